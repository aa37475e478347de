"""The operators that come with zlbench, and pytest files of the user's own in the same form."""

from __future__ import annotations

import os
import re
from pathlib import Path

from zlbench_core.campaign.model import Campaign, Side
from zlbench_core.common.spelling import did_you_mean
from zlbench_core.providers.base import Invocation, suite_argv
from zlbench_core.providers.git import source_digest, sources
from zlbench_core.providers.nodes import class_names, node_of, strings_of

SUITE = Path(__file__).parent.parent / "suite"


class BuiltinProvider:
    name = "builtin"

    def invocation(self, campaign: Campaign, side: Side, op: str) -> Invocation:
        folder = self._folder(campaign, op)
        test_file = folder / f"test_{campaign.op_files.get(op, op)}.py"
        # The project's own pytest settings are for its tests, not for a benchmark.
        own = ["-c", os.devnull, "--rootdir", str(folder)]
        # pytest would put what lies beside the package on the side's path, as if its own packages were missing.
        own += ["--import-mode=importlib"] if folder == SUITE else ["-p", "zlbench_core.suite.conftest"]
        own += [] if folder == SUITE or campaign.measure else ["-p", "zlbench_core.plugins.unchecked"]
        return Invocation(
            node=node_of(test_file, op, whole_file=op not in campaign.op_files),
            test_file=test_file,
            cwd=folder,
            argv=(*own, *suite_argv(campaign)),
            shape_mode="file" if campaign.shape_file else "upstream",
        )

    def environment(self, campaign: Campaign, side: Side) -> dict[str, str]:
        return {}

    def problems(self, campaign: Campaign, side: Side) -> list[tuple[str, str]]:
        if side.provider_dir is not None:
            told = f"flaggems_dir names {side.provider_dir}, where provider builtin does not look"
            return [("flaggems_dir", f"{told}; leave it out, or set provider to flaggems")]
        for folder in campaign.suite_dirs:
            if not os.path.isdir(folder):
                return [("suite_dir", f"suite_dirs names {folder}, which is not a folder")]
            if not os.access(folder, os.R_OK | os.X_OK):
                return [("suite_dir", f"suite_dirs names {folder}, which cannot be read: Permission denied")]
            for path in sources(Path(folder)):
                if not os.access(path, os.R_OK):
                    return [("suite_dir", f"{path} of suite_dirs cannot be read: Permission denied")]
        absent = [
            op for op in campaign.ops if not os.path.isfile(self.invocation(campaign, side, op).test_file)
        ]
        return [("op", self._unknown(campaign, op)) for op in absent]

    def shape_names(self, campaign: Campaign) -> frozenset[str] | None:
        """Operators and benchmark classes. In files of the user's own any text may be an op_name, and a class of
        another module the base of theirs."""
        suite = {name for path in (SUITE / "base.py", *SUITE.glob("test_*.py")) for name in class_names(path)}
        own = [path for folder in campaign.suite_dirs for path in Path(folder).glob("*.py")]
        found = {name for path in own for name in _names_of(path)}
        return frozenset({*self.known_ops(campaign), *campaign.ops, *suite, *filter(str.isidentifier, found)})

    def facts(self, campaign: Campaign, side: Side) -> dict[str, object]:
        digests = [source_digest(folder) for folder in (SUITE, *map(Path, campaign.suite_dirs))]
        return {"provider_commit": f"sha256:{'+'.join(digests)}", "provider_dirty": None}

    def known_ops(self, campaign: Campaign) -> list[str]:
        folders = [*map(Path, campaign.suite_dirs), SUITE]
        return sorted(
            {path.stem.removeprefix("test_") for folder in folders for path in folder.glob("test_*.py")}
        )

    def _unknown(self, campaign: Campaign, op: str) -> str:
        name, known = campaign.op_files.get(op, op), self.known_ops(campaign)
        hint = " ".join(filter(None, [did_you_mean(name, known), f"known are {', '.join(known)}"]))
        return f"operator {op} has no test_{name}.py; {hint}"

    def _folder(self, campaign: Campaign, op: str) -> Path:
        name = f"test_{campaign.op_files.get(op, op)}.py"
        return next((Path(own) for own in campaign.suite_dirs if os.path.isfile(Path(own) / name)), SUITE)


def _names_of(own: Path) -> set[str]:
    """What a shape file may mean in a file of the user's; any word of one that does not parse: pytest says why."""
    found = class_names(own, outer=True) | strings_of(own)
    return found or set(re.findall(r"\w+", own.read_text(encoding="utf-8", errors="replace")))
