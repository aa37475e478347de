"""The record step itself, with real benchmark processes on logical devices and no Snakemake around them."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml

from zlbench_core.campaign.load import load_campaign
from zlbench_core.campaign.model import Campaign
from zlbench_core.judge.status import failure_causes
from zlbench_core.pins.pins import load_pins
from zlbench_core.run.record import publish_pins, record_shard

from .conftest import REPOSITORY

SHAPES = {"product": {"shapes": [[1, 16, 16, 16], [1, 32, 16, 16]]}, "rows": {"shapes": [[4, 16], [4, 32]]}}


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    """Record an operator of the suite in `shards` processes at once and publish; returns the pins' folder."""
    monkeypatch.setenv("ZL_LOCK_DIR", str(tmp_path / "locks"))
    # Apart from the results: a suite's folder is digested with all that lies in it.
    suite = tmp_path / "own"
    suite.mkdir()
    shutil.copy(REPOSITORY / "tests/data/autotune/faulty_suite.py", suite / "test_faulty.py")
    (suite / "shapes.yaml").write_text(yaml.safe_dump(SHAPES))

    def run(op: str, shards: int, level: str = "core") -> Path:
        folder = tmp_path / f"{op}-{level}-{shards}"
        asked = make_campaign(suite, op, shards, level).record_of(op)
        folders = [folder / "record" / f"shard-{index}" for index in range(shards)]
        with ThreadPoolExecutor(2) as pool:
            done = [
                pool.submit(record_shard, asked, op, (index, shards), index, folders[index], 3600)
                for index in range(shards)
            ]
        for future in done:
            future.result()
        publish_pins(asked, op, folders, 0, folder / "pins", failure_causes, 3600)
        return folder / "pins"

    return run


def make_campaign(suite: Path, op: str, shards: int, level: str) -> Campaign:
    config = {
        "backend": "cpu",
        "ops": [op],
        "op_files": {op: "faulty"},
        "suite_dirs": [str(suite)],
        "dtypes": ["float32"],
        "level": level,
        "shape_file": str(suite / "shapes.yaml"),
        "sides": {"a": {}, "b": None},
        "autotune": {"shards": shards},
    }
    return load_campaign(config)


@pytest.mark.parametrize(("level", "shards", "keys"), [("core", 2, 7), ("comprehensive", 3, 12)])
def test_the_merged_pins_cover_exactly_the_serial_sweeps_keys(sweep, level, shards, keys):
    serial, merged = load_pins(sweep("several", 1, level)), load_pins(sweep("several", shards, level))
    assert merged.meta["source_shards"] == [f"shard-{index}" for index in range(shards)]
    assert {entry.id for entry in merged.entries} == {entry.id for entry in serial.entries}
    assert len(merged.entries) == len(serial.entries) == keys
    assert merged.meta["shapes_digest"] == serial.meta["shapes_digest"]


@pytest.mark.parametrize(
    ("op", "reason", "keys"),
    [
        ("truncated", "shard-1/records.json cannot be read:", 4),
        ("disagreeing", "shard-0 and shard-1 disagree on scale_kernel key [64,", 1),
        ("holed", "hole in coverage: a shard stopped in the middle of holed torch.float32", 4),
    ],
)
def test_a_faulty_sweep_is_discarded_and_swept_serially(sweep, op, reason, keys):
    folder = sweep(op, 2)
    pins = load_pins(folder)
    assert reason in pins.meta["discarded"]["reason"]
    assert (pins.meta["source_shards"], len(pins.entries)) == (["serial"], keys)
    assert all((folder.parent / "record" / f"shard-{index}" / "run.log").stat().st_size for index in (0, 1))
