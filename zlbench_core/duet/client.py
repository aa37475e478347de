"""A side's end of the socket. Between a message that hands the device back and its answer, the process stands still."""

from __future__ import annotations

import os
import socket
from typing import Any

from zlbench_core.records import messages
from zlbench_core.records.messages import Message


class PairEnded(KeyboardInterrupt):
    """The partner died or hangs, or the coordinator is gone: this process has nothing left to measure.

    An interrupt, since a benchmark that catches every Exception must not go on alone.
    """


class Client:
    def __init__(self, path: str, side: str) -> None:
        """Connect, and wait for the device. Raises PairEnded."""
        self.side = side
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.connect(path)
        except OSError as error:
            raise PairEnded(f"no coordinator at {path}: {error}") from None
        self._lines = self._socket.makefile("rb")
        self.ask(messages.HELLO, side=side, pid=os.getpid())

    def tell(self, kind: str, **what: Any) -> None:
        """Say something and go on. Raises PairEnded."""
        try:
            self._socket.sendall(messages.encode({"type": kind, **what}))
        except OSError as error:
            raise PairEnded(f"the coordinator is gone: {error}") from None

    def ask(self, kind: str, **what: Any) -> Message:
        """Hand the device back, and wait until it is this side's turn. Raises PairEnded."""
        self.tell(kind, **what)
        try:
            line = self._lines.readline()
        except OSError:
            line = b""
        if not line:
            raise PairEnded("the coordinator is gone")
        answer = messages.decode(line)
        if answer["type"] == messages.STOP:
            raise PairEnded(answer["reason"])
        return answer

    def close(self) -> None:
        self._lines.close()
        self._socket.close()
