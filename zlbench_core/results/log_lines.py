"""The lines of a log, read in bounded memory whatever the log is."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from zlbench_core.errors import ReadError

MAX_LOG_BYTES = 1 << 30
MAX_LINE_BYTES = 1 << 20


def read_lines(path: Path | str) -> Iterator[tuple[bytes, bool]]:
    """Each line of the file at `path`, and whether it was cut at 1 MiB or is the file's unfinished last line.

    A path that ends in .gz is unpacked on the way. Raises ReadError where the file cannot be read or unpacks
    to more than 1 GiB.
    """
    path = Path(path)
    try:
        with gzip.open(path) if path.suffix == ".gz" else open(path, "rb") as stream:
            yield from _lines(stream, path)
    except (OSError, EOFError, zlib.error) as error:
        raise ReadError(f"cannot read log {path}: {error}") from None


def _lines(stream: BinaryIO, path: Path) -> Iterator[tuple[bytes, bool]]:
    seen = 0
    while line := stream.readline(MAX_LINE_BYTES):
        seen += len(line)
        whole = line.endswith(b"\n")
        rest = line
        while not whole and (rest := stream.readline(MAX_LINE_BYTES)):
            seen += len(rest)
            whole = rest.endswith(b"\n")
            _check_size(seen, path)
        _check_size(seen, path)
        yield from _split_returns(line, not line.endswith(b"\n"))


def _split_returns(line: bytes, cut: bool) -> Iterator[tuple[bytes, bool]]:
    """Carriage returns end lines too: progress bars write over what they wrote before."""
    *complete, last = line.rstrip(b"\r\n").split(b"\r") if b"\r" in line else (line.rstrip(b"\n"),)
    for part in complete:
        yield part, False
    yield last, cut


def _check_size(seen: int, path: Path) -> None:
    if seen > MAX_LOG_BYTES:
        raise ReadError(f"log {path} is longer than {MAX_LOG_BYTES} bytes")
