"""What differs between two IR archives, as text: per variant a unified diff of its first differing stage."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator
from pathlib import Path

from zlbench_core.errors import ArchiveError
from zlbench_core.ir.archive import Variant
from zlbench_core.ir.compare import UNKNOWN, GateResult, Pair, compare_archives
from zlbench_core.ir.disassembly import disassemble_cubin
from zlbench_core.ir.normalise import readable

_COLOURS = {"---": "1", "+++": "1", "@@": "36", "-": "31", "+": "32"}
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_DISASSEMBLERS = {"cubin": disassemble_cubin}


def diff_archives(
    a_dir: Path | str, b_dir: Path | str, kernel: str | None = None, colour: bool = False
) -> str:
    """The differences of two runs' archives, locations stripped; one line when there are none.

    Raises ArchiveError when an archive cannot be judged, or when neither has the `kernel` asked for.
    """
    result = compare_archives([a_dir], [b_dir])
    if result.verdict == UNKNOWN:
        raise ArchiveError(result.reason)
    pairs = _of_kernel(result.pairs, kernel)
    lines = [line for pair in pairs for line in _pair_lines(pair)]
    lines.append(_closing_line(GateResult(result.verdict, pairs=pairs)))
    return "".join(f"{_painted(line) if colour else line}\n" for line in map(_plain, lines))


def _of_kernel(pairs: tuple[Pair, ...], kernel: str | None) -> tuple[Pair, ...]:
    chosen = tuple(pair for pair in pairs if kernel in (None, pair.variant.kernel))
    if not chosen:
        known = ", ".join(sorted({pair.variant.kernel for pair in pairs}))
        raise ArchiveError(f"kernel {kernel!r} is in neither archive; there are {known}")
    return chosen


def _pair_lines(pair: Pair) -> Iterator[str]:
    if pair.only_in:
        yield f"{describe(pair.variant)}: only in {pair.only_in}"
    elif pair.first_stage:
        stage = pair.first_stage
        yield f"{describe(pair.variant)}: first differs at {stage}, differs at {', '.join(pair.differing)}"
        names = (f"a/{pair.a.kernel}.{stage}", f"b/{pair.b.kernel}.{stage}")
        yield from difflib.unified_diff(
            _stage_lines(pair.a, stage), _stage_lines(pair.b, stage), *names, lineterm=""
        )


def describe(variant: Variant) -> str:
    """One line that tells a variant apart from the others of its kernel."""
    document = variant.document
    values = {
        **document["constexprs"],
        **{k: v for k, v in variant.config.items() if k.startswith(("num_", "max"))},
    }
    settings = ", ".join(f"{name}={value}" for name, value in values.items())
    types = ", ".join(kind for kind in document["signature"] if not kind.endswith(": constexpr"))
    return f"{variant.kernel}({types}) [{settings}] {variant.variant_id}"


def _stage_lines(variant: Variant, stage: str) -> list[str]:
    lines = readable(stage, variant.read_stage(stage)).splitlines()
    if stage in _DISASSEMBLERS:
        code = _DISASSEMBLERS[stage](variant.path / stage)
        lines += code.instructions if code.instructions is not None else [f"(no disassembly: {code.reason})"]
    return lines


def _closing_line(result: GateResult) -> str:
    counts = result.counts
    return (
        f"{counts['different']} of {counts['compared']} variants differ, {counts['only_in_a']} only in a, "
        f"{counts['only_in_b']} only in b, {result.only_locations} differ in locations alone"
    )


def _plain(line: str) -> str:
    return _CONTROL.sub("�", line)


def _painted(line: str) -> str:
    code = next((code for start, code in _COLOURS.items() if line.startswith(start)), None)
    return f"\x1b[{code}m{line}\x1b[0m" if code else line
