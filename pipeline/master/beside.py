"""Work beside the loop: chapters are stitched and books packed while the hardware renders on."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import Any

_NUM_TRIES = 3


class Beside:
    """Runs functions one after another in a thread, or several at once in processes.

    Processes keep a driver that serves many replicas from sharing its interpreter with the stitcher. One that is
    killed is replaced, and what it did is done again. They end with the driver, however that ends.
    """

    def __init__(self, num_processes: int = 0, on_done: Callable[[], None] = lambda: None) -> None:
        """0 processes for a thread. `on_done` is called, from any thread, whenever something has been done."""
        self._num_processes = num_processes
        self._on_done = on_done
        self._lock = threading.Lock()
        self._lifeline: Connection | None = None
        self._executor: Executor | None = None
        self._is_closed = False

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """With processes, function and arguments must be picklable."""
        done: Future[Any] = Future()
        self._try(done, 1, function, arguments)
        return done

    def close(self, *, at_once: bool) -> None:
        """End after what is being done; `at_once`, in the middle of it where it is done in a process."""
        with self._lock:
            executor, self._executor = self._executor, None
            self._is_closed = True
            if self._lifeline and at_once:
                self._lifeline.close()
        if executor is not None:
            executor.shutdown(wait=True, cancel_futures=True)
        if self._lifeline:
            self._lifeline.close()

    def _try(self, done: Future[Any], number: int, function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
        def on_done(tried: Future[Any]) -> None:
            if tried.cancelled() or (self._is_closed and tried.exception()):
                done.cancel()
            elif isinstance(error := tried.exception(), BrokenProcessPool) and number < _NUM_TRIES:
                with self._lock:
                    if self._executor is executor:
                        self._executor = None
                self._try(done, number + 1, function, arguments)
                return
            elif error is not None:
                done.set_exception(error)
            else:
                done.set_result(tried.result())
            self._on_done()

        with self._lock:
            if self._is_closed:
                done.cancel()
                return
            if self._executor is None:
                self._executor = self._open()
            executor = self._executor
        try:
            tried = executor.submit(function, *arguments)
        except BrokenProcessPool as error:
            tried = Future()
            tried.set_exception(error)
        tried.add_done_callback(on_done)

    def _open(self) -> Executor:
        if not self._num_processes:
            return ThreadPoolExecutor(1, thread_name_prefix="beside")
        context = multiprocessing.get_context("spawn")
        far_end, self._lifeline = context.Pipe(duplex=False)
        return ProcessPoolExecutor(self._num_processes, context, _begin, (far_end,))


def _begin(lifeline: Connection) -> None:
    """Leave signals to the driver, and end when it has let go of its end of the line, or is no more."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)

    def watch() -> None:
        with contextlib.suppress(EOFError, OSError):
            lifeline.recv()
        os._exit(0)

    threading.Thread(target=watch, name="lifeline", daemon=True).start()
