"""Whether the runs that a summary rests on are still there, and still what they were."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from zlbench_core.common.files import read_object, sha256_of
from zlbench_core.errors import IdentityError, ReadError
from zlbench_core.records.vouched import check_digests

RECEIPT = "receipt.json"
_NAMED = 5

Track = Callable[[Iterable[Any], str], Iterable[Any]]


def untracked(items: Iterable[Any], _: str) -> Iterable[Any]:
    """Reads on without a word: what jobs do, whose output is a log."""
    return items


def read_receipt(folder: Path) -> dict[str, Any]:
    """The receipt of a finished campaign. Raises ReadError where there is none that can be read."""
    path = folder / RECEIPT
    receipt = read_object(path, ReadError, what="receipt")
    if not all(isinstance(receipt.get(name), dict) for name in ("identities", "gates", "config")):
        raise ReadError(f"receipt {path} cannot be read: identities, gates and config are expected")
    return receipt


def identity_files(folder: Path, receipt: dict[str, Any]) -> dict[Path, str]:
    """Each run_identity.json below `folder` that the receipt names, and its digest."""
    return {_below(folder, path, 4): digest for path, digest in sorted(receipt["identities"].items())}


def stale_lines(folder: Path, track: Track = untracked) -> list[str]:
    """What the verdicts rest on and is no longer what it was, a sentence each; empty for a summary that stands.

    Looks at every identity, gate and store of the receipt, and at every file that those identities vouch for.
    """
    try:
        receipt = read_receipt(folder)
    except ReadError as error:
        return [str(error)]
    gone, changed = [], []
    vouched = [*identity_files(folder, receipt).items()]
    vouched += [(_below(folder, path, 2), digest) for path, digest in sorted(receipt["gates"].items())]
    vouched += [(folder / name, digest) for name, digest in sorted(receipt.get("store", {}).items())]
    for path, digest in track(vouched, "checking runs"):
        if not path.is_file():
            gone.append(_shown(folder, path))
        elif sha256_of(path) != digest:
            changed.append(_shown(folder, path))
        elif path.name == "run_identity.json":
            changed += [_shown(folder, path.parent / name) for name in _broken(path.parent)]
    return [*_told("gone", gone), *_told("changed", changed)]


def _below(folder: Path, recorded: str, depth: int) -> Path:
    """Recorded as results/{backend}/..., seen from where Snakemake ran; the folder may have moved since."""
    return folder.joinpath(*Path(recorded).parts[-depth:])


def _broken(run_dir: Path) -> list[str]:
    try:
        return check_digests(run_dir)
    except IdentityError as error:
        return [str(error)]


def _shown(folder: Path, path: Path) -> str:
    return path.relative_to(folder).as_posix()


def _told(word: str, names: list[str]) -> Iterator[str]:
    if names:
        rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"{word} since the summary was made: {', '.join(names[:_NAMED])}{rest}"
