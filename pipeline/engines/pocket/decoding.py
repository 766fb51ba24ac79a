"""Rows on their way through the codec: windows are queued as frames come, and decoded beside the backbone."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import torch
from torch import Tensor

from pipeline.engines.base import EosTrace, Request, Stop
from pipeline.engines.pocket.codec import CodecState, Decoder


@dataclass(slots=True, eq=False)
class Sounding:
    """One row's sound in the making. `stop` is set once its last window has been queued."""

    request: Request
    state: CodecState = field(default_factory=CodecState)
    samples: list[Tensor] = field(default_factory=list)
    num_frames: int = 0
    stop: Stop | None = None
    trace: EosTrace | None = None
    windows: deque[Tensor] = field(default_factory=deque)
    is_busy: bool = False
    """Queued or being decoded: a row's windows are decoded one after another."""


class Decoding:
    """Windows of all rows, decoded by `num_threads` threads of its own and by whoever calls `run_one`."""

    def __init__(self, decoder: Decoder, num_threads: int) -> None:
        self._decoder = decoder
        self._threads = ThreadPoolExecutor(num_threads, "codec") if num_threads else None
        self._lock = threading.Condition()
        self._ready: deque[Sounding] = deque()
        self._finished: list[Sounding] = []
        self._num_open = 0
        self._error: BaseException | None = None
        self.num_pending = 0
        """Windows queued or being decoded."""

    @property
    def is_alone(self) -> bool:
        """Whether nothing is decoded unless the caller does it."""
        return self._threads is None

    def push(self, row: Sounding, latents: Tensor) -> None:
        """Queue the next window of a row, normalised latents `[num_frames, latent_dim]`."""
        with self._lock:
            if not row.num_frames:
                self._num_open += 1
            row.num_frames += latents.shape[0]
            row.windows.append(latents)
            self.num_pending += 1
            if not row.is_busy:
                self._queue(row)

    def finish(self, row: Sounding, stop: Stop) -> None:
        """Nothing more comes of a row."""
        with self._lock:
            row.stop = stop
            if not row.is_busy:
                self._close(row)

    def drop(self, row: Sounding) -> None:
        """Forget a row of which nothing is wanted any more."""
        with self._lock:
            if row in self._ready:
                self._ready.remove(row)
            self.num_pending -= len(row.windows)
            row.windows.clear()
            self._num_open -= bool(row.num_frames)

    def run_one(self) -> bool:
        """Decode one window in the caller's thread; False if none is waiting."""
        with self._lock:
            if not self._ready:
                return False
            row = self._ready.popleft()
            latents = row.windows.popleft()
        try:
            with torch.inference_mode():
                samples = self._decoder.decode(latents, row.state)
        except BaseException as error:  # whoever takes what is finished must hear of it
            with self._lock:
                self._error = error
                self._lock.notify_all()
            raise
        with self._lock:
            row.samples.append(samples)
            self.num_pending -= 1
            row.is_busy = False
            if row.windows:
                self._queue(row)
            elif row.stop is not None:
                self._close(row)
            self._lock.notify_all()
        return True

    def take_finished(self, *, wait: bool) -> list[Sounding]:
        """The rows that are whole. wait: until there is one, decoding along, if any row is still open."""
        while wait and not self._finished and self._num_open:
            if not self.run_one():
                with self._lock:
                    self._lock.wait_for(lambda: self._finished or self._ready or self._error)
            if self._error:
                raise self._error
        if self._error:
            raise self._error
        with self._lock:
            finished, self._finished = self._finished, []
            return finished

    def _queue(self, row: Sounding) -> None:
        row.is_busy = True
        self._ready.append(row)
        if self._threads is not None:
            self._threads.submit(self.run_one)

    def _close(self, row: Sounding) -> None:
        self._num_open -= 1
        self._finished.append(row)
