"""The operators that come with zlbench, and pytest files of the user's own in the same form."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from zlbench_core.campaign.model import RecordAsked
from zlbench_core.campaign.parts import Platform, Subject
from zlbench_core.campaign.sides import DeclaredSide
from zlbench_core.common.spelling import did_you_mean
from zlbench_core.providers.base import Invocation, suite_argv
from zlbench_core.providers.git import source_digest, sources
from zlbench_core.providers.nodes import class_names, node_of, strings_of

SUITE = Path(__file__).parent.parent / "suite"


class BuiltinProvider:
    name = "builtin"

    def invocation(self, asked: RecordAsked, side: DeclaredSide, op: str) -> Invocation:
        subject = asked.subject
        folder = _folder(subject, op)
        test_file = folder / _file_name(subject, op)
        # The project's own pytest settings are for its tests, not for a benchmark.
        own = ["-c", os.devnull, "--rootdir", str(folder)]
        # pytest would put what lies beside the package on the side's path, as if its own packages were missing.
        own += ["--import-mode=importlib"] if folder == SUITE else ["-p", "zlbench_core.suite.conftest"]
        own += [] if folder == SUITE or asked.timing.measure else ["-p", "zlbench_core.plugins.unchecked"]
        return Invocation(
            node=node_of(test_file, op, whole_file=op not in subject.op_files),
            test_file=test_file,
            cwd=folder,
            argv=(*own, *suite_argv(asked)),
            shape_mode="file" if subject.shape_file else "upstream",
        )

    def environment(self, platform: Platform, side: DeclaredSide) -> dict[str, str]:
        return {}

    def side_problems(self, platform: Platform, side: DeclaredSide) -> list[tuple[str, str]]:
        if side.provider_dir is not None:
            told = f"flaggems_dir names {side.provider_dir}, where provider builtin does not look"
            return [("flaggems_dir", f"{told}; leave it out, or set provider to flaggems")]
        return []

    def problems(self, asked: RecordAsked, side: DeclaredSide) -> list[tuple[str, str]]:
        subject = asked.subject
        for folder in subject.suite_dirs:
            if not os.path.isdir(folder):
                return [("suite_dir", f"suite_dirs names {folder}, which is not a folder")]
            if not os.access(folder, os.R_OK | os.X_OK):
                return [("suite_dir", f"suite_dirs names {folder}, which cannot be read: Permission denied")]
            for path in sources(Path(folder)):
                if not os.access(path, os.R_OK):
                    return [("suite_dir", f"{path} of suite_dirs cannot be read: Permission denied")]
        absent = [
            op for op in subject.ops if not os.path.isfile(_folder(subject, op) / _file_name(subject, op))
        ]
        return [("op", _unknown(subject, op)) for op in absent]

    def shape_names(self, subject: Subject) -> frozenset[str] | None:
        """Operators and benchmark classes. In files of the user's own any text may be an op_name, and a class of
        another module the base of theirs."""
        suite = {name for path in (SUITE / "base.py", *SUITE.glob("test_*.py")) for name in class_names(path)}
        own = [path for folder in subject.suite_dirs for path in Path(folder).glob("*.py")]
        found = {name for path in own for name in _names_of(path)}
        return frozenset({*_known_ops(subject), *subject.ops, *suite, *filter(str.isidentifier, found)})

    def facts(self, side: DeclaredSide, suite_dirs: Sequence[str]) -> dict[str, object]:
        digests = [source_digest(folder) for folder in (SUITE, *map(Path, suite_dirs))]
        return {"provider_commit": f"sha256:{'+'.join(digests)}", "provider_dirty": None}


def _known_ops(subject: Subject) -> list[str]:
    folders = [*map(Path, subject.suite_dirs), SUITE]
    return sorted(
        {path.stem.removeprefix("test_") for folder in folders for path in folder.glob("test_*.py")}
    )


def _unknown(subject: Subject, op: str) -> str:
    name, known = subject.op_files.get(op, op), _known_ops(subject)
    hint = " ".join(filter(None, [did_you_mean(name, known), f"known are {', '.join(known)}"]))
    return f"operator {op} has no {_file_name(subject, op)}; {hint}"


def _file_name(subject: Subject, op: str) -> str:
    return f"test_{subject.op_files.get(op, op)}.py"


def _folder(subject: Subject, op: str) -> Path:
    """The first of the user's own folders that has the operator's file, else the suite."""
    name = _file_name(subject, op)
    return next((Path(own) for own in subject.suite_dirs if os.path.isfile(Path(own) / name)), SUITE)


def _names_of(own: Path) -> set[str]:
    """What a shape file may mean in a file of the user's; any word of one that does not parse: pytest says why."""
    found = class_names(own, outer=True) | strings_of(own)
    return found or set(re.findall(r"\w+", own.read_text(encoding="utf-8", errors="replace")))
