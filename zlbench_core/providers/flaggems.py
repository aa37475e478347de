"""FlagGems: how one of its benchmarks becomes a pytest node, an argument list and an environment."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from zlbench_core.backends import get_backend, normalize_backend_name
from zlbench_core.backends.backend import DeviceBackend
from zlbench_core.campaign.model import RecordAsked
from zlbench_core.campaign.parts import Platform, Subject
from zlbench_core.campaign.sides import DeclaredSide
from zlbench_core.errors import ConfigError
from zlbench_core.providers.base import Invocation, suite_argv
from zlbench_core.providers.git import tree_facts

# The tag that stands in our tables. What FlagGems itself takes in GEMS_VENDOR is backend.gems_vendor.
VENDOR_BY_BACKEND = {"cuda": "nvidia", "rocm": "amd", "musa": "musa", "ascend": "ascend"}


def flaggems_vendor(backend: str | DeviceBackend) -> str:
    """The vendor tag of a backend, by its name, an alias or itself. For callers of the first zl_bench.

    Raises UnknownBackendError, or ConfigError for a backend without one.
    """
    name = normalize_backend_name(backend.name if isinstance(backend, DeviceBackend) else backend)
    if name not in VENDOR_BY_BACKEND:
        raise ConfigError(
            f"backend {name} has no FlagGems vendor; allowed are {', '.join(VENDOR_BY_BACKEND)}"
        )
    return VENDOR_BY_BACKEND[name]


def parse_test_node(node: str) -> dict[str, str]:
    """Take `<dir>/benchmark/test_<op_file>.py::test_<op>` apart: op, op_file, flaggems_dir and test_file, the node.

    Raises ConfigError for any other form.
    """
    test_file, separator, function = node.partition("::")
    path = Path(test_file)
    function = function.split("[")[0]
    good = (
        separator and function.startswith("test_") and path.name.startswith("test_") and path.suffix == ".py"
    )
    if not good or "benchmark" not in path.parts:
        raise ConfigError(
            f"test node {node!r} is not understood; <FlagGems>/benchmark/test_<file>.py::test_<op> is expected"
        )
    last = len(path.parts) - 1 - path.parts[::-1].index("benchmark")
    root = str(Path(*path.parts[:last])) if last else "."
    return {
        "op": function.removeprefix("test_"),
        "op_file": path.stem.removeprefix("test_"),
        "flaggems_dir": root,
        "test_file": node,
    }


def emit_run_env(
    test_node: str | None = None,
    op: str | None = None,
    op_file: str | None = None,
    flaggems_dir: str | None = None,
    shape_file: str | None = None,
) -> dict[str, str]:
    """OP, OP_FILE, FLAGGEMS_DIR, TEST_FILE, SHAPE_MODE and PASS_SHAPE_FILE of one run.

    A test node wins over op, op_file and flaggems_dir, and takes its shapes from upstream; a plain op has them
    inline; an explicit shape file is passed on. Raises ConfigError when neither node nor op is given.
    """
    if test_node is not None:
        op, op_file, flaggems_dir, test_file = parse_test_node(test_node).values()
        mode, passes = "upstream", "0"
    elif op is not None:
        op_file = op_file or op
        flaggems_dir = flaggems_dir or "."
        test_file = str(Path(flaggems_dir) / "benchmark" / f"test_{op_file}.py") + f"::test_{op}"
        mode, passes = "inline", "1"
    else:
        raise ConfigError("neither a test node nor an operator is given; one of them is expected")
    if shape_file is not None:
        mode, passes = "file", "1"
    return {
        "OP": op,
        "OP_FILE": str(op_file),
        "FLAGGEMS_DIR": str(flaggems_dir),
        "TEST_FILE": test_file,
        "SHAPE_MODE": mode,
        "PASS_SHAPE_FILE": passes,
    }


class FlagGemsProvider:
    name = "flaggems"

    def invocation(self, asked: RecordAsked, side: DeclaredSide, op: str) -> Invocation:
        subject = asked.subject
        root = Path(side.provider_dir or ".")
        node = f"benchmark/test_{subject.op_files.get(op, op)}.py::test_{op}"
        run_env = emit_run_env(test_node=str(root / node), shape_file=subject.shape_file)
        return Invocation(
            node=node,
            test_file=root / node.partition("::")[0],
            cwd=root,
            argv=tuple(suite_argv(asked)),
            shape_mode=run_env["SHAPE_MODE"],
        )

    def environment(self, platform: Platform, side: DeclaredSide) -> dict[str, str]:
        vendor = get_backend(platform.backend).gems_vendor
        env = {"PYTHONPATH": str(Path(side.provider_dir or ".") / "src")}
        return {**env, "GEMS_VENDOR": vendor} if vendor else env

    def side_problems(self, platform: Platform, side: DeclaredSide) -> list[tuple[str, str]]:
        if side.provider_dir is None:
            return [("flaggems_dir", "provider flaggems needs flaggems_dir: the path of a FlagGems checkout")]
        root = Path(side.provider_dir)
        if not os.path.isdir(root / "src" / "flag_gems"):
            return [
                (
                    "flaggems_dir",
                    f"flaggems_dir {root} holds no src/flag_gems; a FlagGems checkout is expected",
                )
            ]
        if platform.backend not in VENDOR_BY_BACKEND:
            allowed = ", ".join(VENDOR_BY_BACKEND)
            return [
                (
                    "backend",
                    f"provider flaggems does not run on backend {platform.backend}; allowed are {allowed}",
                )
            ]
        return []

    def problems(self, asked: RecordAsked, side: DeclaredSide) -> list[tuple[str, str]]:
        if asked.subject.suite_dirs:
            told = f"suite_dirs names {asked.subject.suite_dirs[0]}, where provider flaggems does not look"
            return [("suite_dir", f"{told}; leave it out, or set provider to builtin")]
        return [
            ("benchmark_file", f"operator {op} has no benchmark file {invocation.test_file}")
            for op in asked.subject.ops
            if not (invocation := self.invocation(asked, side, op)).test_file.is_file()
        ]

    def shape_names(self, subject: Subject) -> frozenset[str] | None:
        # Its own file names operators by no rule, and a shape may hold nested shapes and flags.
        return None

    def facts(self, side: DeclaredSide, suite_dirs: Sequence[str]) -> dict[str, object]:
        if side.provider_dir is None or not Path(side.provider_dir).is_dir():
            return {"provider_commit": None, "provider_dirty": None}
        facts = tree_facts(Path(side.provider_dir))
        return {"provider_commit": facts["commit"], "provider_dirty": facts["dirty"]}
