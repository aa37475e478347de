"""Leases: who may use a device, who has to wait, and who is named meanwhile."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from zlbench_core.common.locks import Lock
from zlbench_core.errors import DeviceBusyError, DeviceError
from zlbench_core.run import devices
from zlbench_core.run.devices import exposed_device, lease

# Holds cpu-0, starts a child that inherits the lock as a benchmark does, says the child's pid, and waits.
HOLDER = """
import subprocess, sys
from zlbench_core.run.devices import lease
with lease("cpu", 0, "replay mm round 1", 0) as held:
    child = subprocess.Popen(["sleep", "60"], pass_fds=held.descriptors())
    held.name_benchmark(child.pid)
    print(child.pid, flush=True)
    sys.stdin.read()
    child.kill()
    child.wait()
"""
NOBODY = 65534


@pytest.fixture(autouse=True)
def locks(monkeypatch, tmp_path) -> Path:
    for key in ("SLURM_JOB_GPUS", "SLURM_STEP_GPUS", "CUDA_VISIBLE_DEVICES"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.setenv("ZL_LOCK_DIR", str(tmp_path / "locks"))
    monkeypatch.setattr(devices, "POLL_SECONDS", 0.01)
    return tmp_path / "locks"


@pytest.fixture
def holder(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(devices.__file__).parents[1])},
    )
    process.child = int(process.stdout.readline())
    yield process
    if process.poll() is None:
        process.communicate()


def take(patience: float = 0) -> None:
    with lease("cpu", 0, "record softmax", patience):
        pass


def test_who_waits_in_vain_is_told_who_holds_the_device(holder, tmp_path, capsys):
    with pytest.raises(DeviceBusyError) as refused:
        take()
    assert f"device 0 (cpu-0) is held by pid {holder.pid} of " in str(refused.value)
    assert f"for replay mm round 1 in {tmp_path}" in str(refused.value)
    with lease("cpu", 1, "another device", 0) as held:
        assert held.device.uuid == "cpu-1"


def test_who_waits_is_told_once_and_gets_the_device_when_it_is_free(holder, capsys):
    child = os.fork()
    if child == 0:
        time.sleep(0.3)
        os.kill(holder.child, signal.SIGKILL)
        os.kill(holder.pid, signal.SIGKILL)
        os._exit(0)
    take(patience=60)
    os.waitpid(child, 0)
    told = capsys.readouterr().out.splitlines()
    assert len(told) == 1
    assert told[0].startswith(f"DEVICE_BUSY device 0 is held by pid {holder.pid} of ")


def kill_worker(holder) -> None:
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()


def the_orphan_is_named_and_ended(holder) -> None:
    with pytest.raises(DeviceBusyError) as refused:
        take()
    assert f"left behind when it was killed (pid {holder.child})" in str(refused.value)
    os.kill(holder.child, signal.SIGKILL)


def test_a_benchmark_whose_worker_was_killed_still_holds_the_device_and_is_named(holder):
    kill_worker(holder)
    the_orphan_is_named_and_ended(holder)
    take(patience=10)


def test_the_orphan_of_another_user_is_named_as_the_lock_file_names_it(holder, monkeypatch):
    monkeypatch.setattr(Lock, "others", lambda lock: [])  # whose files one may not see
    kill_worker(holder)
    the_orphan_is_named_and_ended(holder)


def test_a_pid_that_another_process_has_by_now_is_not_taken_for_the_holder(holder, locks):
    kill_worker(holder)
    [lock] = locks.iterdir()
    lock.write_text(lock.read_text().replace(str(holder.pid), str(os.getppid())))
    the_orphan_is_named_and_ended(holder)


def test_locks_are_open_to_all_users_whatever_the_umask_of_the_first(locks):
    before = os.umask(0o077)
    try:
        take()
    finally:
        os.umask(before)
    [lock] = locks.iterdir()
    assert stat.S_IMODE(lock.stat().st_mode) == 0o666
    assert stat.S_IMODE(locks.stat().st_mode) == 0o1777


@pytest.mark.skipif(os.getuid() != 0, reason="only root can play another user")
@pytest.mark.parametrize("first", [0, NOBODY])
def test_two_users_take_turns_and_each_is_told_of_the_other(locks, tmp_path, first):
    locks.parent.chmod(0o777)
    for parent in locks.parents:  # pytest makes its folders for one user alone
        if parent.stat().st_uid == os.getuid() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o111)
    second = NOBODY - first
    assert as_user(first, take) == 0
    with lease("cpu", 0, "the other user's", 0):
        assert as_user(second, take) == 1
    assert as_user(second, take) == 0


def as_user(uid: int, work) -> int:
    child = os.fork()
    if child == 0:
        try:
            os.setuid(uid)
            work()
        except DeviceBusyError as error:
            os._exit(1 if "for the other user's" in str(error) else 3)
        except BaseException:
            os._exit(2)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_what_a_scheduler_exposes_is_resolved_and_held(monkeypatch):
    monkeypatch.setenv("SLURM_JOB_GPUS", "1")
    with lease("cpu", "scheduler", "first", 0) as held:
        assert held.device.uuid == "cpu-1"
        with pytest.raises(DeviceBusyError), lease("cpu", "scheduler", "second", 0):
            pass


def test_a_device_that_the_campaign_names_is_refused_inside_a_job_of_slurm(monkeypatch):
    monkeypatch.setenv("SLURM_JOB_GPUS", "1")
    with pytest.raises(
        DeviceError, match=r"devices names 0, and Slurm gave this job GPU 1; set devices to \[\]"
    ):
        take()


@pytest.mark.parametrize(
    ("backend", "environ", "device"),
    [
        ("cuda", {"CUDA_VISIBLE_DEVICES": "GPU-1", "SLURM_JOB_GPUS": "3"}, "GPU-1"),
        ("cuda", {"MUSA_VISIBLE_DEVICES": "1"}, None),
        ("rocm", {"CUDA_VISIBLE_DEVICES": "0", "ROCR_VISIBLE_DEVICES": "2"}, "2"),
        ("musa", {"CUDA_VISIBLE_DEVICES": "0", "SLURM_STEP_GPUS": "1"}, "1"),
        ("cpu", {"CUDA_VISIBLE_DEVICES": "0"}, None),
    ],
)
def test_the_exposed_device_is_told_by_the_backends_own_variable_or_by_slurm(backend, environ, device):
    assert exposed_device(backend, environ) == device


def test_several_exposed_devices_are_refused():
    with pytest.raises(DeviceError, match="CUDA_VISIBLE_DEVICES=0,1 leaves several devices"):
        exposed_device("cuda", {"CUDA_VISIBLE_DEVICES": "0,1"})


def test_no_device_is_guessed_where_no_scheduler_has_chosen_one(monkeypatch):
    class TwoGpus:
        visibility_keys = ("CUDA_VISIBLE_DEVICES",)

        def enumerate_devices(self):
            return [devices.DeviceInfo(0, "GPU-0"), devices.DeviceInfo(1, "GPU-1")]

    monkeypatch.setattr(devices, "get_backend", lambda name: TwoGpus())
    with (
        pytest.raises(DeviceError, match=r"devices is \[\], and no scheduler has chosen one of 2"),
        lease("cuda", "scheduler", "test", 0),
    ):
        pass
