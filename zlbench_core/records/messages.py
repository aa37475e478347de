"""What the sides and the coordinator say to each other: one JSON object a line, with its `type` (docs/duet.md)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from zlbench_core.errors import ZlbenchError

MAX_LINE = 4 << 20  # a block of 200 samples is 4 kB

# From a side. HELLO, ROW, PREPARED and BLOCK hand the device back; the others leave it where it is.
HELLO, ROW, PREPARED, BLOCK = "hello", "row", "prepared", "block"
LOST, NODE_ENDED, BYE = "lost", "node_ended", "bye"
# From the coordinator; each of them hands the device over, except STOP. BLOCK and LOST are said both ways.
GO, PREPARE, DONE, STOP = "go", "prepare", "done", "stop"

# How a row is sampled: PREPARE names it.
GRAPH, DIRECT = "graph", "direct"

Message = dict[str, Any]


class MessageError(ZlbenchError):
    """A line that is no message."""


def encode(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, allow_nan=False).encode() + b"\n"


def decode(line: bytes) -> Message:
    """The message in a line. Raises MessageError."""
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise MessageError(f"no message: {line[:80]!r}: {error}") from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise MessageError(f"no message: {line[:80]!r}; an object with a type is expected")
    return message


class LineBuffer:
    """Bytes as they arrive, handed on as whole messages."""

    def __init__(self) -> None:
        self._rest = b""

    def feed(self, data: bytes) -> Iterator[Message]:
        """The messages that are whole now. Raises MessageError for a line that is none, or too long."""
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > MAX_LINE:
            raise MessageError(f"no message: a line longer than {MAX_LINE} bytes")
        for line in lines:
            yield decode(line)
