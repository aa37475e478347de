"""Whether pins that come from elsewhere were chosen by the compiler and the kernels that are here."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from zlbench_core.common.places import SIDE_PATH
from zlbench_core.errors import PinsError
from zlbench_core.pins.merge import COMPILER_FIELDS
from zlbench_core.providers.git import tree_facts

_ASK = """
import json, torch, triton
from zlbench_core.records.process_environment import compiler_build
print("ZLBENCH_COMPILER", json.dumps([torch.__version__, triton.__version__, compiler_build()]))
"""


def origin_warnings(
    operators: Mapping[str, Mapping[str, Any]], compiler: Mapping[str, Any], provider_commit: str | None
) -> list[str]:
    """One line per operator and fact that differs from where its pins were recorded.

    What a record does not tell is said to be unknown, never taken as equal. `provider_commit` None: not asked.
    """
    found = []
    for op, part in operators.items():
        recorded = part["meta"].get("compiler") or {}
        here = {name: compiler.get(name) for name in COMPILER_FIELDS}
        found += [
            f"compiler: {op} was recorded with {name} {recorded.get(name) or 'unknown'}, here is {here[name]}"
            for name in COMPILER_FIELDS
            if recorded.get(name) is None or recorded[name] != here[name]
        ]
        commit = part["meta"].get("provider_commit")
        if provider_commit is not None and commit != provider_commit:
            found.append(f"provider_commit: {op} was recorded with {commit}, here is {provider_commit}")
    return found


def compiler_of(python: str) -> dict[str, Any]:
    """The torch, triton and triton build of an interpreter. Raises PinsError when it does not tell."""
    path = os.pathsep.join(filter(None, (str(SIDE_PATH), os.environ.get("PYTHONPATH"))))
    try:
        done = subprocess.run(
            [python, "-c", _ASK],
            env={**os.environ, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise PinsError(f"{python} does not start: {error}") from None
    for line in done.stdout.splitlines():
        if line.startswith("ZLBENCH_COMPILER "):
            return dict(zip(COMPILER_FIELDS, json.loads(line.partition(" ")[2]), strict=True))
    last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
    raise PinsError(f"{python} does not tell its compiler: {last}; --python names another interpreter")


def commit_of(provider_dir: Path) -> str:
    """The commit of a provider's checkout. Raises PinsError when it is no folder."""
    if not provider_dir.is_dir():
        raise PinsError(f"provider directory {provider_dir} is not a folder")
    return str(tree_facts(provider_dir)["commit"])
