"""One lock, whoever uses it: taken once, freed by the kernel, inherited by its descriptor, and its holder named."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
import time

import pytest

from zlbench_core.common.locks import Lock, claim, claimed_by, lives


@pytest.fixture
def path(tmp_path):
    return tmp_path / "one.lock"


def test_a_lock_is_held_once_and_free_after_its_block(path):
    with Lock(path) as first, Lock(path) as second:
        assert first.take()
        assert not second.take()
        first.say({"pid": 7})
        assert second.told() == {"pid": 7}
    with Lock(path) as third:
        assert third.take()
        assert third.told() == {"pid": 7}, "what its last holder said stays"


def test_what_is_said_replaces_what_was_said(path):
    path.write_text('{"who": "a much longer name than the next one"}')
    with Lock(path) as lock:
        lock.say({"who": "b"})
        assert lock.told() == {"who": "b"}
    assert path.read_text() == '{"who": "b"}'


@pytest.mark.parametrize("content", [b"", b"{", b"[1]", b"\xff", b"[" * 60_000])
def test_a_file_that_says_nothing_readable_says_nothing(path, content):
    path.write_bytes(content)
    with Lock(path) as lock:
        assert lock.told() == {}


def test_a_child_that_inherits_the_descriptor_holds_it_and_is_named(path):
    with Lock(path) as lock:
        assert lock.take()
        child = subprocess.Popen(["sleep", "60"], pass_fds=[lock.descriptor])
    try:
        with Lock(path) as later:
            assert not later.take()
            assert later.others() == [child.pid]
            assert lives(child.pid)
            child.kill()
            child.wait()
            assert later.take()
            assert later.others() == []
            assert not lives(child.pid)
    finally:
        child.kill()


def test_who_waits_is_told_once_and_gets_it_in_the_end(path):
    told = []
    with Lock(path) as waiting:
        held = Lock(path)
        assert held.take()
        assert not waiting.wait_for(0, 0.001, lambda: told.append("no patience"))
        threading.Timer(0.05, held.close).start()
        assert waiting.wait_for(30, 0.001, lambda: told.append("busy"))
    assert told == ["busy"]


def test_a_lock_without_a_limit_is_waited_for(path):
    held = Lock(path)
    assert held.take()
    threading.Timer(0.05, held.close).start()
    with Lock(path) as waiting:
        start = time.monotonic()
        waiting.wait()
        assert time.monotonic() - start > 0.02


def test_a_lock_that_must_be_there_is_not_made(path):
    with pytest.raises(FileNotFoundError):
        Lock(path, create=False)
    assert not path.exists()


@pytest.mark.parametrize(("for_all", "mode"), [(True, 0o666), (False, 0o600)])
def test_only_a_lock_for_all_is_open_to_all(path, for_all, mode):
    before = os.umask(0o077)
    try:
        Lock(path, for_all=for_all).close()
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == mode


def test_the_first_to_claim_has_it_and_outlives_its_process(tmp_path):
    code = "import sys; from pathlib import Path; from zlbench_core.common.locks import claim; "
    code += "claim(Path(sys.argv[1]), 'shard 1')"
    subprocess.run([sys.executable, "-c", code, tmp_path / "item"], check=True)
    assert not claim(tmp_path / "item", "shard 2")
    assert claimed_by(tmp_path / "item") == "shard 1"
    assert claim(tmp_path / "other", "shard 2")


def test_a_process_needs_nothing_but_the_standard_library_for_it():
    code = "import sys; import zlbench_core.common.locks; print(*sys.modules, sep='\\n')"
    loaded = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    ours = {name for name in loaded.split() if name.startswith("zlbench_core.")}
    assert ours == {"zlbench_core.common", "zlbench_core.common.locks"}
    assert not {"numpy", "yaml", "torch"} & set(loaded.split())


def test_no_other_module_locks_by_itself():
    from zlbench_core.common.places import PACKAGE

    found = [
        path for path in PACKAGE.rglob("*.py") if "flock(" in path.read_text() or "O_EXCL" in path.read_text()
    ]
    assert [path.name for path in found] == ["locks.py"]
