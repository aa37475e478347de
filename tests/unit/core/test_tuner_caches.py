from __future__ import annotations

from pathlib import Path

from zlbench_core.runner import compiled_folder
from zlbench_core.tuner_caches import tuner_caches


def test_isolated_caches_are_empty_counted_and_dropped(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with tuner_caches("isolated", {"FLAGGEMS_DB_URL": "sqlite:////x.db"}) as caches:
        folders = {name: Path(caches.env[name]) for name in ("TRITON_CACHE_DIR", "FLAGGEMS_CACHE_DIR")}
        assert caches.env["ZL_ISOLATE_TUNER_CACHE"] == "1"
        for folder in folders.values():
            folder.mkdir()
            (folder / "entry").write_text("x")
        (folders["TRITON_CACHE_DIR"] / "more").write_text("x")
    assert caches.state == {
        "isolated": True,
        "database_url": "cleared",
        "files_before": {"triton": 0, "flaggems": 0},
        "files_after": {"triton": 2, "flaggems": 1},
        "dropped": True,
    }
    assert list(tmp_path.iterdir()) == []


def test_a_shared_cache_is_counted_and_kept(tmp_path):
    (tmp_path / "flaggems").mkdir()
    (tmp_path / "flaggems" / "winners.db").write_text("x")
    with tuner_caches(f"shared:{tmp_path}", {}) as caches:
        assert caches.env["FLAGGEMS_CACHE_DIR"] == str(tmp_path / "flaggems")
    assert caches.state["files_before"] == {"triton": 0, "flaggems": 1}
    assert (caches.state["isolated"], caches.state["dropped"]) == (False, False)
    assert caches.state["database_url"] == "not set"
    assert (tmp_path / "flaggems" / "winners.db").exists()


def test_the_caches_are_dropped_when_the_run_is_broken_off(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    try:
        with tuner_caches("isolated", {}):
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert list(tmp_path.iterdir()) == []


def test_shards_share_what_they_compile_and_not_what_they_tune(tmp_path):
    common = compiled_folder(tmp_path / "record" / "shard-0")
    assert common == compiled_folder(tmp_path / "record" / "shard-1")
    with (
        tuner_caches("isolated", {}, compiled=common) as one,
        tuner_caches("isolated", {}, compiled=common) as two,
    ):
        assert one.env["TRITON_CACHE_DIR"] == two.env["TRITON_CACHE_DIR"] == str(common)
        assert one.env["FLAGGEMS_CACHE_DIR"] != two.env["FLAGGEMS_CACHE_DIR"]
        common.mkdir(parents=True)
    assert common.exists(), "the other shard may still be at it; the record drops it"
