"""Work beside the loop: books are planned, chapters stitched and books packed while the hardware renders on."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import Connection
from typing import Any

from pipeline.errors import OutputError

_NUM_TRIES_ALONE = 2


class Beside:
    """Runs functions one after another in a thread, or several at once in processes.

    Processes keep a driver that serves many replicas from sharing its interpreter with them. When one is killed, what
    was in all of them is done again, each by itself, so that only what kills its process fails. They end with the
    driver, however that ends.
    """

    def __init__(self, num_processes: int = 0, on_done: Callable[[], None] = lambda: None, niceness: int = 0) -> None:
        """0 processes for a thread. `on_done` is called, from any thread, whenever something has been done."""
        self._num_processes = num_processes
        self._niceness = niceness
        self._on_done = on_done
        self._lock = threading.Lock()
        self._lifelines: list[Connection] = []
        self._executor: Executor | None = None
        self._alone = ThreadPoolExecutor(1, thread_name_prefix="beside alone")
        self._is_closed = False

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """With processes, function and arguments must be picklable."""
        done: Future[Any] = Future()
        if self._num_processes:  # at once: what waits takes a third of the memory
            function, arguments = _call_pickled, (pickle.dumps((function, arguments)),)

        def on_tried(tried: Future[Any]) -> None:
            if tried.cancelled() or (self._is_closed and tried.exception()):
                done.cancel()
            elif isinstance(tried.exception(), BrokenProcessPool):
                with self._lock:
                    self._executor = None if self._executor is executor else self._executor
                with contextlib.suppress(RuntimeError):  # closed in this moment
                    self._alone.submit(self._do_alone, function, arguments).add_done_callback(on_tried)
                return
            elif error := tried.exception():
                done.set_exception(error)
            else:
                done.set_result(tried.result())
            self._on_done()

        with self._lock:
            if self._is_closed:
                done.cancel()
                return done
            if self._executor is None:
                self._executor = self._open(self._num_processes)
            executor = self._executor
            try:
                tried = executor.submit(function, *arguments)
            except BrokenProcessPool as error:
                tried = Future()
                tried.set_exception(error)
        tried.add_done_callback(on_tried)
        return done

    def close(self, *, at_once: bool) -> None:
        """End after what is being done; `at_once`, in the middle of it where it is done in a process."""
        with self._lock:
            executor, self._executor = self._executor, None
            self._is_closed = True
        if at_once:
            self._let_go()
        self._alone.shutdown(wait=True, cancel_futures=True)
        if executor is not None:
            executor.shutdown(wait=True, cancel_futures=True)
        self._let_go()

    def _let_go(self) -> None:
        for lifeline in self._lifelines:
            lifeline.close()

    def _do_alone(self, function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
        for _ in range(_NUM_TRIES_ALONE):
            if self._is_closed:
                break
            with self._open(1) as executor, contextlib.suppress(BrokenProcessPool):
                return executor.submit(function, *arguments).result()
        raise OutputError("A book can't be planned or put together: what does it is killed, perhaps for its memory.")

    def _open(self, num_processes: int) -> Executor:
        if not num_processes:
            return ThreadPoolExecutor(1, thread_name_prefix="beside")
        context = multiprocessing.get_context("spawn")
        far_end, lifeline = context.Pipe(duplex=False)
        self._lifelines.append(lifeline)
        return ProcessPoolExecutor(num_processes, context, _begin, (far_end, self._niceness))


def _call_pickled(call: bytes) -> Any:
    function, arguments = pickle.loads(call)
    return function(*arguments)


def _begin(lifeline: Connection, niceness: int) -> None:
    """Leave signals to the driver, and end when it has let go of its end of the line, or is no more."""
    os.nice(niceness)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)

    def watch() -> None:
        with contextlib.suppress(EOFError, OSError):
            lifeline.recv()
        os._exit(0)

    threading.Thread(target=watch, name="lifeline", daemon=True).start()
