"""Coverage-guided fuzzing of every reader: an answer or a ZlbenchError, whatever the bytes (CONTRIBUTING.md).

The first byte of an input chooses the file that the rest becomes.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["zlbench_core"]):
    from zlbench_core.caliber.guard import field_complaints, undeclared_differences
    from zlbench_core.campaign.model import RoundAsked
    from zlbench_core.campaign.plan_text import read_plan
    from zlbench_core.errors import ZlbenchError
    from zlbench_core.ir.archive import read_archive
    from zlbench_core.ir.normalise import normalise
    from zlbench_core.judge.collect import load_run
    from zlbench_core.judge.show import show_campaign
    from zlbench_core.judge.status import status_of
    from zlbench_core.pins.pins import load_pins
    from zlbench_core.pins.records import read_records
    from zlbench_core.results.csv_files import read_table
    from zlbench_core.results.samples import read_samples

IDENTITY = b'{"schema_version": 1, "status": "complete", "digests": {}}'


def judge(folder: Path) -> None:
    status_of(load_run(folder))


def compare(folder: Path) -> None:
    runs = [("a", folder), ("b", folder)]
    if not field_complaints(runs):
        undeclared_differences(runs, [])


def plan(folder: Path) -> None:
    read_plan((folder / "plan").read_text(encoding="utf-8", errors="replace"), RoundAsked)


READERS: tuple[tuple[str, Callable[[Path], object]], ...] = (
    ("run.log", judge),
    ("result.json", judge),
    ("samples.jsonl", lambda folder: read_samples(folder / "samples.jsonl")),
    ("run_identity.json", judge),
    ("run_identity.json", compare),
    ("records.json", read_records),
    ("pins.json", load_pins),
    ("index.json", read_archive),
    ("verdicts.json", show_campaign),
    ("ops_status.csv", lambda folder: read_table(folder / "ops_status.csv")),
    ("plan", plan),
    ("llir", lambda folder: normalise("llir", (folder / "llir").read_bytes())),
    ("ptx", lambda folder: normalise("ptx", (folder / "ptx").read_bytes())),
    ("cubin", lambda folder: normalise("cubin", (folder / "cubin").read_bytes())),
    ("hsaco", lambda folder: normalise("hsaco", (folder / "hsaco").read_bytes())),
)


def test_one_input(data: bytes) -> None:
    if not data:
        return
    name, read = READERS[data[0] % len(READERS)]
    for path in FOLDER.iterdir():
        path.unlink()
    (FOLDER / "run_identity.json").write_bytes(IDENTITY)
    (FOLDER / "run.log").write_bytes(b"")
    (FOLDER / name).write_bytes(data[1:])
    with suppress(ZlbenchError):
        read(FOLDER)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as made:
        FOLDER = Path(made)
        atheris.Setup(sys.argv, test_one_input)
        atheris.Fuzz()
