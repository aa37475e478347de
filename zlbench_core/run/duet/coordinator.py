"""The coordinator's end of the sockets: a single-threaded loop that carries messages between sides and conductor."""

from __future__ import annotations

import os
import selectors
import shutil
import socket
import tempfile
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from zlbench_core.records import messages
from zlbench_core.records.messages import LineBuffer, MessageError
from zlbench_core.run.duet.coins import SIDES
from zlbench_core.run.duet.conductor import Conductor, Orders

SOCKET_NAME = "duet"
MAX_PATH = 100  # a Unix socket's path has 108 bytes
CHUNK = 1 << 16


class Coordinator:
    """A context: its socket and folder are gone at the end. `run` returns once the pair has ended."""

    def __init__(
        self, conductor: Conductor, patience: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.conductor, self.patience, self._clock = conductor, patience, clock
        self._buffers: dict[socket.socket, LineBuffer] = {}
        self._names: dict[socket.socket, str] = {}  # of the connections that have said who they are
        self._ended: deque[str] = deque()

    def __enter__(self) -> Coordinator:
        self._folder = _short_folder()
        self.path = self._folder / SOCKET_NAME
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(self.path))
        self._listener.listen(len(SIDES))
        self._wake, self._woken = socket.socketpair()
        self._selector = selectors.DefaultSelector()
        for stream in (self._listener, self._woken):
            stream.setblocking(False)
            self._selector.register(stream, selectors.EVENT_READ)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._selector.close()
        for stream in (self._listener, self._wake, self._woken, *self._buffers):
            stream.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def ended(self, side: str) -> None:
        """Tell the loop, from any thread, that a side's process has ended."""
        self._ended.append(side)
        self._wake.send(b".")

    def run(self) -> None:
        """Carry messages until both sides have ended, or one has ended the pair (`conductor.failure`)."""
        last_word = self._clock()
        while not self.conductor.finished:
            ready = self._selector.select(max(0.0, last_word + self.patience - self._clock()))
            if ready:
                last_word = self._clock()
            elif self._clock() >= last_word + self.patience:
                self._send(self.conductor.overdue())
            for key, _ in ready:
                assert isinstance(key.fileobj, socket.socket), "nothing else is registered"
                self._serve(key.fileobj)
            while self._ended:
                self._process_ended(self._ended.popleft())
        self._hang_up()

    def _hang_up(self) -> None:
        """A side that comes late, or that does not listen, finds nobody. What was said to it can still be read."""
        self._selector.unregister(self._listener)
        self._listener.close()
        for connection in list(self._buffers):
            self._close(connection)

    def _serve(self, stream: socket.socket) -> None:
        if stream is self._listener:
            connection, _ = self._listener.accept()
            connection.setblocking(False)
            self._buffers[connection] = LineBuffer()
            self._selector.register(connection, selectors.EVENT_READ)
        elif stream is self._woken:
            self._woken.recv(CHUNK)
        elif stream in self._buffers:
            self._read(stream)

    def _read(self, connection: socket.socket) -> None:
        """Take in what has arrived; at its end the connection is closed and its side is gone."""
        while connection in self._buffers:
            try:
                data = connection.recv(CHUNK)
            except BlockingIOError:
                return
            except OSError:
                data = b""
            if not data:
                self._close(connection)
                return
            self._take(connection, data)

    def _take(self, connection: socket.socket, data: bytes) -> None:
        try:
            for message in self._buffers[connection].feed(data):
                self._send(self._hear(connection, message))
        except MessageError as error:
            name = self._names.get(connection)
            if name is not None and not self.conductor.finished:
                self._send(self.conductor.fail(name, str(error)))
            self._close(connection)

    def _hear(self, connection: socket.socket, message: messages.Message) -> Orders:
        name = self._names.get(connection)
        if name is None:
            name = message.get("side")
            if message["type"] != messages.HELLO or name not in SIDES or name in self._names.values():
                raise MessageError("the first message must be the hello of a side that is not there yet")
            self._names[connection] = name
        return self.conductor.receive(name, message)

    def _send(self, orders: Orders) -> None:
        for name, message in orders:
            connection = next(stream for stream, known in self._names.items() if known == name)
            try:
                # A side waits for its message and reads it at once: these few bytes never fill the buffer.
                connection.sendall(messages.encode(message))
            except OSError:
                self._close(connection)

    def _close(self, connection: socket.socket) -> None:
        if connection not in self._buffers:
            return
        self._selector.unregister(connection)
        del self._buffers[connection]
        name = self._names.pop(connection, None)
        connection.close()
        if name is not None:
            self._send(self.conductor.gone(name))

    def _process_ended(self, name: str) -> None:
        """Its last words first: they were sent before it ended. A child may still hold the connection open."""
        for connection in [stream for stream, known in self._names.items() if known == name]:
            self._read(connection)
        self._send(self.conductor.gone(name))


def _short_folder() -> Path:
    """A private folder whose path leaves room for a socket's name."""
    root = tempfile.gettempdir()
    if len(os.fsencode(root)) > MAX_PATH - 20:
        root = "/tmp"
    return Path(tempfile.mkdtemp(prefix="zl-", dir=root))
