"""The lines of a log, read in bounded memory whatever the log is."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from io import BufferedIOBase
from pathlib import Path

from zlbench_core.errors import ReadError

MAX_LOG_BYTES = 1 << 30
MAX_LINE_BYTES = 1 << 20
_READ_BYTES = 1 << 14


def read_blocks(path: Path | str) -> Iterator[tuple[bytes, bool]]:
    """The file at `path` in blocks of whole lines; True where a block's last line breaks off.

    A line breaks off at 1 MiB (the rest of it is left out) or at the file's end. Carriage returns end lines
    too: progress bars write over what they wrote before. A path that ends in .gz is unpacked on the way.
    Raises ReadError where the file cannot be read or unpacks to more than 1 GiB.
    """
    path = Path(path)
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as stream:
            yield from _blocks(_pieces(stream, path))
    except (OSError, EOFError, zlib.error) as error:
        raise ReadError(f"cannot read log {path}: {error}") from None


def _pieces(stream: BufferedIOBase, path: Path) -> Iterator[bytes]:
    seen = 0
    while piece := stream.read(_READ_BYTES):
        seen += len(piece)
        if seen > MAX_LOG_BYTES:
            raise ReadError(f"log {path} is longer than {MAX_LOG_BYTES} bytes")
        yield piece.replace(b"\r", b"\n") if b"\r" in piece else piece


def _blocks(pieces: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    started = b""  # a line whose end has not been read
    dropping = False
    for piece in pieces:
        if dropping:
            _, ended, piece = piece.partition(b"\n")
            dropping = not ended
        lines, ended, started = (started + piece).rpartition(b"\n")
        if ended:
            yield lines, False
        if len(started) > MAX_LINE_BYTES:
            yield started, True
            started, dropping = b"", True
    if started:
        yield started, True
