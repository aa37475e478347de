"""How many of a FlagGems checkout's benchmarks can be planned from their source, and why the others cannot.

    python benchmarks/static_plan.py FLAGGEMS_DIR [--list unresolved] [--json]

Reads benchmark/base.py, benchmark/core_shapes.yaml and benchmark/test_*.py; imports nothing of them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from zlbench_core.autotune.survey import LEVELS, WORST_FIRST, PlannedTest, counts, survey
from zlbench_core.errors import ReadError

MEANING = {
    "yaml": "listed in core_shapes.yaml",
    "default": "the class's DEFAULT_SHAPES",
    "code": "set in code: split at run time, after the benchmark has resolved them",
    "unresolved": "not known from the source",
}


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("flaggems", type=Path, metavar="FLAGGEMS_DIR")
    parser.add_argument(
        "--list", choices=WORST_FIRST, help="also name the tests of this kind, with the reason"
    )
    parser.add_argument("--json", action="store_true", help="print every plan as JSON")
    args = parser.parse_args(argv)
    try:
        tests = survey(args.flaggems / "benchmark")
    except ReadError as error:
        print(f"static_plan: {error}", file=sys.stderr)
        return 1
    if args.json:
        print(json.dumps({**counts(tests), "plans": [test.to_json() for test in tests]}, indent=2))
    else:
        print(report(tests, args.list))
    return 0


def report(tests: Sequence[PlannedTest], listed: str | None) -> str:
    found = counts(tests)
    lines = [f"{found['tests']} test functions in {found['files']} files; their shapes are"]
    lines += [f"  {found['by_source'][source]:5}  {source}: {MEANING[source]}" for source in MEANING]
    overriding = ", ".join(f"{count} {name}" for name, count in found["overriding"].items())
    lines.append(f"set in code by tests of {found['files_in_code']} files; by {overriding}")
    lines += [f"all shapes known at level {level}: {found['exact'][level]}" for level in LEVELS]
    lines += [f"unresolved because {why}: {count}" for why, count in found["unresolved_because"].items()]
    for test in tests:
        if test.source == listed:
            reasons = dict.fromkeys(plan.reason or f"key {plan.key}" for plan in test.plans)
            lines.append(f"{test.file}::{test.function}: {'; '.join(reasons)}")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
