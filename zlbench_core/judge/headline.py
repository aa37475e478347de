"""What the sides ran with, as their runs recorded it: what differs side by side, what is equal once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zlbench_core.caliber.guard import compared_values
from zlbench_core.common.text import printable
from zlbench_core.errors import IdentityError, ReadError
from zlbench_core.judge.receipt import identity_files, read_receipt
from zlbench_core.records.identity import load_identity

# What a reader asks of a number first; of the rest only what differs is told.
_ALWAYS = ("environment.triton", "environment.torch", "environment.python", "provider_commit", "driver")
_PLACES = ("environment.", "provider", "device", "driver")
_COMMIT = 40  # hex digits, of which 12 tell any two commits apart; the identity has them all

Values = dict[str, dict[str, list[str]]]  # by field and side, each value once


@dataclass(frozen=True)
class Headline:
    """`differing`: facts such as `triton 3.6.0 -> 3.9.0`; `equal`: such as `torch 2.13.0`."""

    differing: tuple[str, ...] = ()
    equal: tuple[str, ...] = ()
    sides: tuple[str, ...] = ()

    @property
    def parts(self) -> dict[str, tuple[str, ...]]:
        """What differs and what is equal, each under its name; what there is nothing of is left out."""
        equal = "both" if len(self.sides) == 2 else "with"
        told = {" -> ".join(self.sides): self.differing, equal: self.equal}
        return {name: facts for name, facts in told.items() if facts}


def headline(runs: Iterable[tuple[str, Mapping[str, Any]]]) -> Headline:
    """The headline of runs, each given as its side and its identity."""
    values: Values = {}
    for side, identity in runs:
        for name, value in _facts(identity):
            known = values.setdefault(name, {}).setdefault(side, [])
            known += [value] if value not in known else []
    sides = sorted({side for by_side in values.values() for side in by_side})
    told = {name: [_joined(values[name].get(side)) for side in sides] for name in _ordered(values)}
    differing = [name for name, each in told.items() if len(set(each)) > 1]
    return Headline(
        tuple(f"{_label(name, values)} {' -> '.join(told[name])}" for name in differing),
        tuple(
            f"{_label(name, values)} {told[name][0]}" for name in _ALWAYS if name in told.keys() - differing
        ),
        tuple(sides),
    )


def read_headline(folder: Path) -> Headline:
    """The headline of a finished campaign, from the runs that its receipt names; empty without a receipt."""
    try:
        return headline(_identities(identity_files(folder, read_receipt(folder))))
    except ReadError:
        return Headline()  # without a receipt nothing stands, and the commands say so


def _identities(files: Iterable[Path]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    for path in files:
        try:
            yield path.parent.parts[-2], load_identity(path.parent)
        except IdentityError:
            continue  # receipt.stale_lines names it


def _facts(identity: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for name, value in compared_values(identity).items():
        if name.startswith(_PLACES) and value is not None:
            yield name, _text(value)


def _text(value: Any) -> str:
    text = printable(str(value))
    return text[:12] if len(text) == _COMMIT and set(text) <= set("0123456789abcdef") else text


def _joined(values: list[str] | None) -> str:
    return " and ".join(sorted(values)) if values else "not set"


def _ordered(values: Values) -> list[str]:
    return [name for name in _ALWAYS if name in values] + sorted(values.keys() - set(_ALWAYS))


def _label(name: str, values: Values) -> str:
    """A commit goes by its provider's name, the other fields by their own."""
    if name.startswith("provider_"):
        providers = sorted({one for each in values.get("provider", {}).values() for one in each})
        return f"{' and '.join(providers)} {name.removeprefix('provider_')}"
    return name.removeprefix("environment.").removeprefix("variables.")
