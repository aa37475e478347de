"""What changed in the plan of a rule since it last ran.

The rules' params are digests, so that Snakemake's reason is one readable line. The parts that they are digests of
stand in one file below the results, by digest, with those of earlier campaigns to compare with.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

from zlbench_core.common.files import digest_of, write_json
from zlbench_core.common.plural import count

SCHEMA_VERSION = 1
# How many parts of earlier campaigns are kept: some kilobytes each.
_KEPT = 1000
_NAMED = 4
_VALUE_WIDTH = 48
_TOKEN = re.compile(r"\b([a-z]\w*)=([0-9a-f]{12})\b")
_NOWHERE = object()

Tokens = Mapping[str, str]


def parts_of(plan: str) -> dict[str, Any]:
    """The parts of a plan (plans.py) that each get a digest of their own: campaign, machine, sources, side_{name}."""
    told = json.loads(plan)
    campaign, machine = told["campaign"], told["machine"]
    sides = {
        f"side_{side['name']}": {**side, **told["sides"].get(side["name"], {})} for side in campaign["sides"]
    }
    return {
        "campaign": {name: value for name, value in campaign.items() if name != "sides"},
        "machine": {name: value for name, value in machine.items() if name != "zlbench"},
        "sources": {"measuring": machine["zlbench"], "reading": told.get("sources")},
        **sides,
    }


class PlanChanges:
    """The parts that this campaign asked for, and, from `path`, those that it or another one asked for before."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._now: dict[str, Any] = {}
        self._of_plan: dict[str, dict[str, str]] = {}

    def tokens_of(self, plan: str) -> dict[str, str]:
        """`name=digest` of each part of a plan, by name."""
        if plan not in self._of_plan:
            self._of_plan[plan] = {name: self.token(name, part) for name, part in parts_of(plan).items()}
        return self._of_plan[plan]

    def token(self, name: str, part: Any) -> str:
        token = f"{name}={digest_of(part)[:12]}"
        self._now[token] = part
        return token

    def save(self) -> None:
        """Write what is known now, and the youngest of what was known before."""
        before = {token: part for token, part in self._before.items() if token not in self._now}
        kept = [*self._now.items(), *list(before.items())[:_KEPT]]
        parts = [{"token": token, "part": part} for token, part in kept]
        write_json(self._path, {"schema_version": SCHEMA_VERSION, "parts": parts})

    def lines(self, jobs: Iterable[tuple[str, Iterable[str], Iterable[str]]]) -> list[str]:
        """One line for each set of jobs that run again for one change, from (rule, params gone, params new)."""
        rules: dict[str, Counter[str]] = {}
        for rule, gone, new in jobs:
            rules.setdefault(self.change(gone, new), Counter())[rule] += 1
        return [f"{_named(found)} again, since {change}" for change, found in rules.items()]

    def change(self, gone: Iterable[str], new: Iterable[str]) -> str:
        """What changed from the params that are gone to those that are new: `rounds: 6 -> 12, alpha: ...`."""
        return _changed(_found(gone), _found(new), {**self._before, **self._now})

    @cached_property
    def _before(self) -> dict[str, Any]:
        try:
            found = json.loads(self._path.read_text(encoding="utf-8"))
            return {entry["token"]: entry["part"] for entry in found["parts"]}
        except (OSError, ValueError, LookupError, TypeError, RecursionError):
            return {}


def _named(rules: Counter[str]) -> str:
    return ", ".join(name if amount == 1 else f"{name} ({amount})" for name, amount in rules.items())


def _found(params: Iterable[str]) -> dict[str, str]:
    """The tokens in these params, by the name of the part."""
    return {match[1]: match[0] for text in params for match in _TOKEN.finditer(str(text))}


def _changed(gone: Tokens, new: Tokens, known: Mapping[str, Any]) -> str:
    changes = [
        change
        for name in (sorted({*new, *gone}) if gone and new else ())
        if gone.get(name) != new.get(name)
        for change in _of_part(name, gone.get(name), new.get(name), known)
    ]
    changes = list(dict.fromkeys(changes)) or ["its plan changed, and what it was is not kept"]
    more = [f"{len(changes) - _NAMED} more"] if len(changes) > _NAMED else []
    return ", ".join([*changes[:_NAMED], *more])


def _of_part(name: str, gone: str | None, new: str | None, known: Mapping[str, Any]) -> Iterator[str]:
    if gone is None or new is None:
        yield f"{_words(name)} is {'new' if gone is None else 'gone'}"
    elif gone not in known or new not in known:
        yield f"{_words(name)} changed, and what it was is not kept"
    elif name == "sources":
        yield "the sources of zlbench changed"
    elif name == "rounds":
        old, asked = known[gone], known[new]
        yield f"the rounds of {', '.join(op for op in sorted({*old, *asked}) if old.get(op) != asked.get(op))}"
    else:
        prefix = "" if name == "campaign" else f"{_words(name)}: "
        yield from (f"{prefix}{change}" for change in _differences(known[gone], known[new]))


def _words(name: str) -> str:
    return name.replace("_", " ")


def _differences(old: Any, new: Any, path: str = "") -> Iterator[str]:
    """`key.path: old -> new` of each value that differs. What a variable does is told once, where it is set."""
    if old == new:
        return
    if not (isinstance(old, Mapping) and isinstance(new, Mapping)):
        yield f"{path}: {_short(old)} -> {_short(new)}"
        return
    if path == "autotune" and old.get("mode") != new.get("mode"):  # which has other keys: the mode says it
        old, new = {"mode": old.get("mode")}, {"mode": new.get("mode")}
    set_here = {*(old.get("env") or {}), *(new.get("env") or {})}
    for key in sorted({*old, *new}):
        before, after = old.get(key, _NOWHERE), new.get(key, _NOWHERE)
        if key == "variables":
            before, after = _without(before, set_here), _without(after, set_here)
        yield from _differences(before, after, f"{path}.{key}" if path else key)


def _without(variables: Any, names: set[str]) -> Any:
    if not isinstance(variables, Mapping):
        return variables
    return {name: value for name, value in variables.items() if name not in names}


def _short(value: Any) -> str:
    if value is _NOWHERE:
        return "nothing"
    text = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
    return (
        text if len(text) <= _VALUE_WIDTH else f"{text[:_VALUE_WIDTH]}... ({count(len(text), 'character')})"
    )
