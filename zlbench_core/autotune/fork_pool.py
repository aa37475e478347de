"""An executor for compilations: forked children fill the compiler's disk cache, this process then hits it.

Threads scale badly here: much of a Triton compilation is Python and holds the interpreter's lock (16 threads
made mm's 162 float16 configs 4.2 times faster on an H200's host, shared data mm1 and mm_async). A child only
warms the cache. Every result is computed in this process, so a child that fails costs time and nothing else.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import warnings
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from threading import Thread
from typing import Any

_INDEX = struct.Struct("i")
_QUEUE_LIMIT = 4096  # indices that surely fit a pipe's buffer of 64 KiB
STALL_S = 300.0

Task = tuple[Callable[[], Any], "Future[Any]"]


class ForkExecutor(Executor):
    """Queues what is submitted until `start`; afterwards a submission runs at once, in this process."""

    def __init__(self, workers: int, before: Callable[[], None] = lambda: None) -> None:
        self._workers = workers
        self._before = before  # called in each child
        self._tasks: list[Task] | None = []
        self._collector: Thread | None = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        task = (lambda: fn(*args, **kwargs), future)
        if self._tasks is None:
            _settle(task)
        else:
            self._tasks.append(task)
        return future

    def start(self) -> None:
        tasks, self._tasks = self._tasks or [], None
        if not tasks:
            return
        children, done = _fork(tasks[:_QUEUE_LIMIT], self._workers, self._before)
        self._collector = Thread(target=_collect, args=(tasks, children, done), daemon=True)
        self._collector.start()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.start()
        if wait and self._collector is not None:
            self._collector.join()


def _settle(task: Task) -> None:
    call, future = task
    if future.done():
        return
    try:
        future.set_result(call())
    except Exception as error:
        future.set_exception(error)


def _fork(tasks: list[Task], workers: int, before: Callable[[], None]) -> tuple[list[int], int]:
    """Start the children. Returns their ids and the pipe on which they name the tasks that they have done."""
    work, work_end = os.pipe()
    done, done_end = os.pipe()
    os.write(work_end, b"".join(_INDEX.pack(index) for index in range(len(tasks))))
    os.close(work_end)
    children = []
    with warnings.catch_warnings():
        # Python 3.12 warns of forking beside threads; the child touches no lock that they hold.
        warnings.simplefilter("ignore", DeprecationWarning)
        for _ in range(min(workers, len(tasks))):
            pid = os.fork()
            if pid == 0:
                _child(tasks, work, done_end, before)
            children.append(pid)
    os.close(work)
    os.close(done_end)
    return children, done


def _child(tasks: list[Task], work: int, done: int, before: Callable[[], None]) -> None:
    """Take indices until none is left. Never returns: the child has no business in the parent's stack."""
    try:
        _mute()
        before()
        while index := os.read(work, _INDEX.size):
            with suppress(Exception):
                tasks[_INDEX.unpack(index)[0]][0]()
            os.write(done, index)
    finally:
        os._exit(0)


def _mute() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _collect(tasks: list[Task], children: list[int], done: int) -> None:
    while index := _read(done):
        _settle(tasks[_INDEX.unpack(index)[0]])
    for child in children:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    os.close(done)
    for task in tasks:
        _settle(task)


def _read(done: int) -> bytes:
    """The next index; nothing at the end or when the children have not moved for `STALL_S` seconds."""
    ready, _, _ = select.select([done], [], [], STALL_S)
    return os.read(done, _INDEX.size) if ready else b""
