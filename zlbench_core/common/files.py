"""Files that are either there whole or not there: temporary name, fsync, rename."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from zlbench_core.errors import ZlbenchError

_PIECE_BYTES = 1 << 16


@contextmanager
def atomic_open(path: Path | str, mode: str = "w") -> Iterator[IO[Any]]:
    """Open a temporary file beside `path` that becomes `path` when the block ends without an error."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    encoding, newline = (None, None) if "b" in mode else ("utf-8", "\n")
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from None  # not the temporary name
    try:
        with os.fdopen(handle, mode, encoding=encoding, newline=newline) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def write_text(path: Path | str, text: str) -> None:
    with atomic_open(path) as stream:
        stream.write(text)


def write_json(path: Path | str, value: Any) -> None:
    """Write `value` as sorted, indented JSON. nan and inf are refused: they are no JSON."""
    write_text(path, json.dumps(value, indent=2, sort_keys=True, allow_nan=False) + "\n")


def read_object(
    path: Path | str, error_type: type[ZlbenchError], *, what: str = "file", schema: int | None = None
) -> dict[str, Any]:
    """A JSON object, of `schema` as its schema_version where one is asked for.

    Raises `error_type` in one line, which calls the file `what`, when it is missing, no JSON, no object, or of
    another schema.
    """
    return parse_object(read_content(path, error_type, what=what), path, error_type, what=what, schema=schema)


def read_content(path: Path | str, error_type: type[ZlbenchError], *, what: str = "file") -> bytes:
    """The whole file. Raises `error_type` in one line where it is missing or cannot be read."""
    try:
        return read_whole(path)
    except FileNotFoundError:
        raise error_type(f"no {what}: {path} does not exist") from None
    except (OSError, ValueError) as error:
        raise _unreadable(path, error_type, what, error) from None


def read_whole(path: Path | str) -> bytes:
    """As Path.read_bytes, in half the time: a summary reads tens of thousands of small files. Raises OSError."""
    return b"".join(_pieces(path))


def _pieces(path: Path | str) -> Iterator[bytes]:
    name = os.fspath(path)
    try:
        handle = os.open(name, os.O_RDONLY | os.O_CLOEXEC)
        try:
            while piece := os.read(handle, _PIECE_BYTES):
                yield piece
        finally:
            os.close(handle)
    except OSError as error:  # a folder is told when it is read, and then without its name
        raise type(error)(error.errno, error.strerror, name) from None


def parse_object(
    content: bytes,
    path: Path | str,
    error_type: type[ZlbenchError],
    *,
    what: str = "file",
    schema: int | None = None,
) -> dict[str, Any]:
    """The JSON object that `content`, read from `path`, holds; else as read_object."""
    try:
        value = json.loads(content.decode())
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, error_type, what, error) from None
    if not isinstance(value, dict):
        raise error_type(f"{what} {path} holds {type(value).__name__}; a JSON object is expected")
    if schema is not None and value.get("schema_version") != schema:
        found = value.get("schema_version")
        raise error_type(f"{what} {path} has schema_version {found!r}; {schema} is expected")
    return value


def _unreadable(
    path: Path | str, error_type: type[ZlbenchError], what: str, error: Exception
) -> ZlbenchError:
    return error_type(f"{what} {path} cannot be read: {' '.join(str(error).split())}")


def sha256_of(path: Path | str) -> str:
    """The sha256 of a file's content, 64 hex digits."""
    digest = hashlib.sha256()
    for piece in _pieces(path):
        digest.update(piece)
    return digest.hexdigest()


def digest_of(value: Any) -> str:
    """A short digest (16 hex digits) of a JSON-able value, independent of key order."""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
