"""Whatever a command prints fits the terminal, and all of it is there at every width."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import pytest

from tests.unit.judge.real_runs import DATA, LONG
from zlbench_core.commands.cli import build_parser, main

DATABASE = DATA / "flaggems-h200" / "mm1" / "TunedConfig_nvidia_triton_3_6.db.gz"
OTHER_DATABASE = DATA / "flaggems-h200" / "mm2" / "TunedConfig_nvidia_triton_3_6.db.gz"
# Of each command its arguments below a finished results/cpu, and words that must not get lost.
CASES = {
    "show": (["{folder}"], ["UNDECIDED", "SAME within 2 %", LONG, "timer:", "triton", "sha256:"]),
    "report": (["{folder}"], ["report.html"]),
    "verdict": (["{folder}"], ["recomputed:"]),
    "compare": (
        ["{folder}/softmax/a/r1", "{folder}/softmax/b/r1", "--allow-caliber-mismatch"],
        ["1234", "9.87", "DIFFERENT"],
    ),
    "devices": ([], ["cpu-interpreter", "cannot"]),
    "identity": (["{folder}/mm/a/r1"], ["sha256:15c38103c1f431c8", "vouches"]),
    "preflight": ([], ["PREFLIGHT_OK", "triton"]),
    "pins show": ([str(DATABASE)], ["mm_kernel_general_host_tma", "0.003499", "near"]),
    "pins diff": ([str(DATABASE), str(OTHER_DATABASE)], ["(0.003499", "stand"]),
    "pins export": (["{folder}/mm/pins", "{folder}/pins.bundle"], ["exported"]),
    "pins import": (["{folder}/pins.bundle", "{folder}/imported", "--backend", "cpu"], ["imported"]),
    "ir diff": (["{folder}/mm/a/r1", "{folder}/mm/b/r1"], ["mm_kernel", "variants"]),
    "ir cost": (["{folder}/mm/a/r1"], ["mm_kernel", "settings"]),
}
NOT_FOR_READERS = {"completion", "run"}  # a shell reads the one; what the other prints is the workflow's
WIDTHS = (80, 100, 200)


def commands(parser, prefix: str = "") -> Iterator[str]:
    """Every command that the parser knows, those of two words too."""
    nested = [action.choices for action in parser._actions if isinstance(action.choices, dict)]
    if not nested:
        yield prefix
    for name, below in ((name, below) for choices in nested for name, below in choices.items()):
        yield from commands(below, f"{prefix} {name}".strip())


def test_every_command_is_held_against_the_width():
    assert set(commands(build_parser())) == CASES.keys() | NOT_FOR_READERS


@pytest.fixture
def printed(finished_once, monkeypatch, capsys):
    """What a command prints at a width, None for a pipe."""
    monkeypatch.setattr("sys.__stdout__", None)  # the terminal of whoever runs the tests is another width
    monkeypatch.setattr("zlbench_core.run.preflight.preflight", _preflight)
    monkeypatch.setattr("zlbench_core.judge.pins_origin.compiler_of", lambda python: {})

    def print_at(command: str, width: int | None) -> str:
        monkeypatch.delenv("COLUMNS", raising=False)
        if width is not None:
            monkeypatch.setenv("COLUMNS", str(width))
        if command == "pins import":
            main(["pins", "export", *_filled(CASES["pins export"][0], finished_once)])
            shutil.rmtree(finished_once / "imported", ignore_errors=True)
        capsys.readouterr()
        main([*command.split(), *_filled(CASES[command][0], finished_once)])
        return capsys.readouterr().out

    return print_at


def _filled(arguments, folder) -> list[str]:
    return [argument.format(folder=folder) for argument in arguments]


def _preflight(asked):
    """As of a machine whose every answer is long."""
    devices = [{"index": index, "name": "NVIDIA H200 of a long name"} for index in range(8)]
    facts = {"side": asked.platform.side_names[0], "backend": "cuda", "python": "3.12.3"}
    return {**facts, "torch": "2.13.0+cu130", "triton": "3.9.0", "devices": devices}


NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:e[+-]\d+)?(?!\w)")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("command", CASES)
def test_no_line_is_wider_than_the_terminal_and_nothing_is_lost(printed, command, width):
    narrow, piped = printed(command, width), printed(command, None)
    assert max(map(len, narrow.splitlines())) <= width
    assert [word for word in CASES[command][1] if word not in narrow] == []
    # A folded line goes on indented; what has no space in it may be folded too, a number never.
    together = re.sub(r"\n +", "", narrow)
    assert [word for word in piped.split() if word not in together and word.strip("-")] == []
    assert set(NUMBER.findall(piped)) <= set(NUMBER.findall(narrow))


@pytest.mark.parametrize("command", CASES)
def test_a_pipe_folds_no_row(printed, command):
    piped = printed(command, None)
    assert piped
    assert "    reason:" not in piped
    assert "…" not in piped
