"""Pins that travel: recorded in one campaign, exported, imported, and replayed by another on more data types."""

from __future__ import annotations

import csv
import json

import pytest
import yaml

from zlbench_core.commands.cli import main
from zlbench_core.pins.pins import load_pins
from zlbench_core.records.identity import load_identity

from .conftest import Campaign

# As FlagGems does: a tuner database in FLAGGEMS_CACHE_DIR, else below the user's home; a URL wins over both.
CACHED = """
import os
from pathlib import Path

import torch

from zlbench_core.suite import base
from zlbench_core.suite.kernels.add import add

folder = Path(os.environ.get("FLAGGEMS_CACHE_DIR") or Path.home() / ".flaggems")
folder.mkdir(parents=True, exist_ok=True)
(folder / "TunedConfig.db").write_text("winners of this run")
if "FLAGGEMS_DB_URL" in os.environ:
    Path(os.environ["FLAGGEMS_DB_URL"].removeprefix("sqlite:///")).write_text("winners of this run")


def test_cached():
    base.PointwiseBenchmark(op_name="cached", torch_op=torch.add, op=add).run()
"""
RECORDED, MORE = ["float32"], ["float32", "float16"]
SWITCH = {"a": {}, "b": {"env": {"DISABLE_LLVM_OPT": "1"}}}


def make(folder, root, dtypes, **config):
    (root / "shapes.yaml").write_text(yaml.safe_dump({"cached": {"shapes": [[8, 8]]}}))
    own = {"ops": ["cached"], "suite_dirs": [str(root / "own")], "shape_file": str(root / "shapes.yaml")}
    return Campaign(root / folder, **own, rounds=1, warmup=5, iter=5, dtypes=dtypes, **config)


def contents(home):
    return {
        str(path.relative_to(home)): (path.read_bytes(), path.stat().st_mtime_ns)
        for path in home.rglob("*")
        if path.is_file() and ".cache" not in path.parts  # Snakemake's own
    }


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("imported")
    for name in ("own", "tmp", "home/.triton/cache/abc", "home/.flaggems/config_cache"):
        (root / name).mkdir(parents=True)
    (root / "own" / "test_cached.py").write_text(CACHED)
    (root / "home/.triton/cache/abc/kernel.json").write_text("the user's")
    (root / "home/.flaggems/config_cache/TunedConfig.db").write_text("the user's")
    return root


@pytest.fixture(scope="module")
def home_before(root):
    return contents(root / "home")


@pytest.fixture(scope="module")
def recorded(root, home_before):
    campaign = make("recorded", root, RECORDED, sides={"a": {}, "b": None})
    home = root / "home"
    url = f"sqlite:///{home}/url.db"
    outcome = campaign(env={"HOME": str(home), "TMPDIR": str(root / "tmp"), "FLAGGEMS_DB_URL": url})
    assert outcome.code == 0, outcome.text[-3000:]
    return campaign


@pytest.fixture(scope="module")
def replayed(root, recorded):
    bundle, folder = root / "pins.json", root / "pins"
    assert main(["pins", "export", str(recorded.path()), str(bundle)]) == 0
    assert main(["pins", "import", str(bundle), str(folder), "--backend", "cpu", "--strict"]) == 0
    campaign = make("replayed", root, MORE, sides=SWITCH, autotune={"from": str(folder)})
    outcome = campaign()
    assert outcome.code == 0, outcome.text[-3000:]
    assert "record_shard" not in outcome.jobs
    return campaign


def test_a_campaign_touches_no_cache_of_the_user(root, recorded, home_before):
    assert contents(root / "home") == home_before
    assert list((root / "tmp").glob("zlbench-cache-*")) == []


@pytest.mark.parametrize("run", ["record/shard-0", "a/r1"])
def test_the_state_of_the_caches_is_in_the_identity(recorded, run):
    caches = load_identity(recorded.path("cached", run))["caches"]
    assert (caches["isolated"], caches["dropped"], caches["database_url"]) == (True, True, "cleared")
    assert caches["files_before"] == {"triton": 0, "flaggems": 0}
    assert caches["files_after"]["triton"] > 0
    assert caches["files_after"]["flaggems"] == 1


def test_a_record_says_how_it_was_tuned(recorded):
    pins = load_pins(recorded.path("cached", "pins"))
    identity = load_identity(recorded.path("cached", "record", "shard-0"))
    assert pins.meta["tuning"] == identity["tuning"]
    assert (identity["tuning"]["early_drop"], identity["tuning"]["workers"] >= 1) == (True, True)
    assert (pins.meta["op"], pins.meta["discarded"], pins.meta["tuning_s"] > 0) == ("cached", None, True)


@pytest.mark.parametrize("side", ["a", "b"])
def test_every_key_is_accounted_for_at_replay(recorded, replayed, side):
    [entry] = load_pins(recorded.path("cached", "pins")).entries
    identity = load_identity(replayed.path("cached", side, "r1"))
    replay = identity["replay"]
    assert identity["autotune_mode"] == "replay"
    assert (replay["keys_pinned"], replay["hits"], replay["fallbacks"]) == (1, 1, {"key_missing": 1})
    [used], [unpinned] = replay["used"], replay["unpinned"]
    assert (used["key"], used["config"]) == (entry.key, entry.winner)
    assert (unpinned["key"][:2], unpinned["reason"]) == ([64, "torch.float16"], "key_missing")
    assert unpinned["config"]["kwargs"]["BLOCK"] in (1024, 4096)
    assert min(used["launches"], unpinned["launches"]) > 0
    assert replay["recorded"]["backend"] == "cpu"


def test_a_fallback_refuses_the_comparison_until_it_is_released(replayed):
    [operator] = json.loads(replayed.path("verdicts.json").read_text())["operators"]
    assert operator["verdict"] == "REFUSED"
    told = [line for line in operator["refusals"] if line.startswith("replay:")]
    assert told[0] == "replay: a r1 fell back from its pins 1 times (reason=key_missing)"
    assert rows(replayed, "ab.csv") == []
    assert replayed("require_accepted").code == 1
    replayed.config["allow_caliber_mismatch"] = True
    released = replayed()
    assert (released.code, released.jobs) == (0, {"summarise": 1, "report": 1, "all": 1})
    lines = rows(replayed, "ab.csv")
    assert [line["dtype"] for line in lines] == ["torch.float32"], "the row without its pin stays out"
    assert "CALIBER MISMATCH RELEASED: replay: a r1 fell back" in lines[0]["note"]


def rows(campaign, name):
    with campaign.path(name).open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_pins_of_another_backend_are_refused_before_anything_runs(root, replayed):
    folder = root / "foreign" / "cached"
    folder.mkdir(parents=True)
    meta = {**load_pins(root / "pins" / "cached").meta, "backend": "cuda"}
    (folder / "meta.json").write_text(json.dumps(meta))
    (folder / "pins.json").write_bytes((root / "pins" / "cached" / "pins.json").read_bytes())
    replayed.config["autotune"] = {"from": str(root / "foreign")}
    outcome = replayed()
    assert outcome.code == 1
    line = next(line for line in outcome.text.splitlines() if "PREFLIGHT_FAILED check=replay_from" in line)
    assert "is of backend 'cuda'; this run is on 'cpu'" in line
