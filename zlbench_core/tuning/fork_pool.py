"""An executor for compilations: forked children fill the compiler's disk cache, this process then hits it.

Threads scale badly here: much of a Triton compilation is Python and holds the interpreter's lock (16 threads
made mm's 162 float16 configs 4.2 times faster on an H200's host: mm1 and mm_async of tests/data/flaggems-h200). A child
only warms the cache. Every result is computed in this process, so a child that fails costs time and nothing else; and
in the thread that asks for it, since one beside it would take the interpreter's lock in the middle of a timed launch.
"""

from __future__ import annotations

import os
import select
import signal
import struct
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zlbench_core.common.locks import Lock

_INDEX = struct.Struct("i")
_QUEUE_LIMIT = 4096  # indices that surely fit a pipe's buffer of 64 KiB
STALL_S = 300.0


@dataclass(frozen=True)
class Task:
    """A compilation; `lock` names the file that keeps it from being done twice at once, here or elsewhere."""

    call: Callable[[], Any]
    future: Future[Any]
    lock: Path | None = None


class ForkExecutor(Executor):
    """Queues what is submitted until `start`; afterwards a submission runs at once, in this process."""

    def __init__(self, workers: int, before: Callable[[], None] = lambda: None) -> None:
        self._workers = workers
        self._before = before  # called in each child
        self._tasks: list[Task] | None = []
        self._owner = os.getpid()
        self._children: list[int] = []
        self._done = -1
        self._settled = self._collect([])

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return self._add(Task(lambda: fn(*args, **kwargs), Future()))

    def submit_once(self, fn: Callable[[], Any], lock: Path | None) -> Future[Any]:
        """As `submit`. While another process holds `lock`, children do something else first."""
        return self._add(Task(fn, Future(), lock))

    def _add(self, task: Task) -> Future[Any]:
        if self._tasks is None:
            _settle(task)
        else:
            self._tasks.append(task)
        return task.future

    def start(self) -> None:
        tasks, self._tasks = self._tasks, None
        if tasks:
            self._children, self._done = _fork(tasks[:_QUEUE_LIMIT], self._workers, self._before)
            self._settled = self._collect(tasks)

    def settled(self) -> Iterator[Future[Any]]:
        """The futures in the order in which children are done with them, each settled by the caller's thread."""
        self.start()
        return self._settled

    def abandon(self) -> None:
        """End the children, whatever they are at."""
        if os.getpid() != self._owner:
            return  # a child of another pool holds a copy of this one
        children, self._children = self._children, []
        for child in children:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
        if children:
            os.close(self._done)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        for _ in self.settled():
            pass

    def _collect(self, tasks: list[Task]) -> Iterator[Future[Any]]:
        try:
            while self._children and (index := _read(self._done)):
                yield _settle(tasks[_INDEX.unpack(index)[0]])
        finally:
            self.abandon()
        for task in tasks:
            if not task.future.done():
                yield _settle(task)


def _settle(task: Task) -> Future[Any]:
    if not task.future.done():
        try:
            task.future.set_result(task.call())
        except Exception as error:
            task.future.set_exception(error)
    return task.future


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
        busy = []
        while index := os.read(work, _INDEX.size):
            if _is_done(tasks[_INDEX.unpack(index)[0]], wait=False):
                os.write(done, index)
            else:
                busy.append(index)
        for index in busy:
            _is_done(tasks[_INDEX.unpack(index)[0]], wait=True)
            os.write(done, index)
    finally:
        os._exit(0)


def _is_done(task: Task, wait: bool) -> bool:
    """Do it; False when another is at it and shall not be waited for. What it raises, the parent finds out."""
    with suppress(Exception), ExitStack() as held:
        if task.lock is not None:
            lock = held.enter_context(Lock(task.lock))
            if wait:
                lock.wait()
            elif not lock.take():
                return False
        task.call()
    return True


def _mute() -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def _read(done: int) -> bytes:
    """The next index; nothing at the end or when the children have not moved for `STALL_S` seconds."""
    ready, _, _ = select.select([done], [], [], STALL_S)
    return os.read(done, _INDEX.size) if ready else b""
