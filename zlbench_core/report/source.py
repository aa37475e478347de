"""A finished campaign as the report reads it. What may not be shown is left behind here, not in the page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zlbench_core.errors import ArchiveError, IdentityError, PinsError
from zlbench_core.judge.ir.gate import read_gate
from zlbench_core.judge.pins.pin_sets import load_pin_set
from zlbench_core.judge.receipt import Track, identity_files, read_receipt, stale_lines, untracked
from zlbench_core.judge.show import read_verdicts
from zlbench_core.pins.pins import DISCARDED
from zlbench_core.records.identity import load_identity
from zlbench_core.report.conditions import Conditions, read_conditions
from zlbench_core.report.series import RowSeries, series_of_runs, series_of_table
from zlbench_core.results.csv_files import read_table
from zlbench_core.verdicts.words import WORDS


@dataclass(frozen=True)
class RunFacts:
    """One run that the verdicts rest on: `<op>/<side>/r<round>`."""

    op: str
    side: str
    round: int
    folder: Path
    identity: dict[str, Any]
    conditions: Conditions


@dataclass(frozen=True)
class PinFacts:
    """The pins of one operator; `problem` says why there are none."""

    meta: dict[str, Any]
    entries: list[dict[str, Any]]
    problem: str | None = None


@dataclass(frozen=True)
class Results:
    """`found` is verdicts.json, `series` the latencies by round of each operator whose numbers may be shown."""

    folder: Path
    found: dict[str, Any]
    receipt: dict[str, Any]
    statuses: list[dict[str, str]]
    summary: list[dict[str, str]]
    series: dict[str, list[RowSeries]]
    gates: dict[str, dict[str, Any]]
    pins: dict[str, PinFacts]
    runs: list[RunFacts]
    stale: tuple[str, ...]

    @property
    def config(self) -> dict[str, Any]:
        return self.receipt["config"]

    @property
    def operators(self) -> list[dict[str, Any]]:
        return self.found["operators"]

    @property
    def is_ab(self) -> bool:
        return len(self.config["sides"]) == 2

    @property
    def devices(self) -> list[str]:
        return sorted({line["device"] for line in self.statuses if line["device"]})

    @property
    def interpreted(self) -> bool:
        """Whether times are the interpreter's, which say nothing about a GPU."""
        return any(device.startswith("cpu-interpreter") for device in self.devices)

    def released(self, operator: Mapping[str, Any]) -> bool:
        """Whether the operator's numbers are shown although its sides stand on different calibers."""
        released = self.found["allow_caliber_mismatch"] and operator["refusals"]
        return bool(released) and not WORDS[operator["verdict"]].silent


def read_results(folder: Path, track: Track = untracked) -> Results:
    """Read results/{backend}. Raises ReadError where the summary is missing or not whole."""
    found = read_verdicts(folder / "verdicts.json")
    receipt = read_receipt(folder)
    files = [path for path in identity_files(folder, receipt) if path.is_file()]
    runs = list(_runs(track(files, "reading runs"), receipt["config"]["protocol"] == "duet"))
    summary = read_table(folder / "summary.csv")
    silent = {operator["op"] for operator in found["operators"] if WORDS[operator["verdict"]].silent}
    return Results(
        folder,
        found,
        receipt,
        read_table(folder / "ops_status.csv"),
        [line for line in summary if line["op"] not in silent],
        _series(folder, len(receipt["config"]["sides"]), runs, silent, track),
        dict(_gates(folder, receipt)),
        dict(_pins(folder, receipt["config"])),
        runs,
        tuple(stale_lines(folder, track)),
    )


def _runs(files: Any, duet: bool) -> Iterator[RunFacts]:
    for path in files:
        op, side, number = path.parent.parts[-3:]
        try:
            identity = load_identity(path.parent)
        except IdentityError:
            continue  # named by stale_lines
        place = int(number.removeprefix("r"))
        yield RunFacts(op, side, place, path.parent, identity, read_conditions(path.parent, duet))


def _series(
    folder: Path, sides: int, runs: list[RunFacts], silent: set[str], track: Track
) -> dict[str, list[RowSeries]]:
    if sides == 2:
        lines = read_table(folder / "ab.csv")
        return series_of_table(line for line in lines if line["op"] not in silent)
    folders = [(run.op, run.round, run.folder) for run in runs if run.op not in silent]
    return series_of_runs(track(folders, "reading rows"))


def _gates(folder: Path, receipt: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for recorded in receipt["gates"]:
        op = Path(recorded).parts[-2]
        try:
            gate = read_gate(folder / op / "ir_gate.json")
        except ArchiveError:
            continue  # named by stale_lines
        if isinstance(gate.get("variants"), list):
            yield op, gate


def _pins(folder: Path, config: dict[str, Any]) -> Iterator[tuple[str, PinFacts]]:
    root = config["autotune"].get("pins_from")  # a campaign that leaves the tuners alone has none
    for op in config["ops"] if config["measure"] and config["autotune"]["mode"] == "replay" else ():
        try:
            found = load_pin_set(op, Path(root) / op if root else folder / op / "pins")
        except PinsError as error:
            yield op, PinFacts({}, [], str(error))
            continue
        discarded = found.meta.get("status") == DISCARDED
        problem = f"discarded: {found.meta.get('reason')}" if discarded else None
        yield op, PinFacts(found.meta, [entry.to_json() for entry in found.entries], problem)
