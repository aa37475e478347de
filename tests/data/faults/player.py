"""A side's interpreter that plays a recorded run: the chain around it is real, the benchmark is not."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from zlbench_core.records.identity import update_identity
from zlbench_core.records.process_environment import collect_variables

DATA = Path(__file__).resolve().parent
READ_BACK = ("autotune_mode", "device", "device_uuid", "direct_repeat", "driver", "environment", "ir")
READ_BACK += ("measurement", "replay", "timer", "compiled")
PROBE = {
    "python": "3.11.7",
    "versions": {"torch": "2.13.0+cpu", "triton": "3.6.0", "pytest": "9.2.0", "yaml": "6.0"},
    "plugin_errors": {},
    "visible_devices": None,
}


def main() -> None:
    if sys.argv[1].endswith("probe.py"):
        print("ZLBENCH_PROBE " + json.dumps(PROBE))
        return
    fault, _, argument = os.environ.get("PLAYER_FAULT", "").partition(":")
    FAULTS.get(fault, lambda argument: None)(argument)
    play(Path(os.environ["ZL_OUT_DIR"]))


def play(out: Path) -> None:
    side = "b" if os.environ.get("DISABLE_LLVM_OPT") else "a"
    run = DATA / ("record" if os.environ["ZL_AUTOTUNE_MODE"] == "record" else side)
    for name in ("result.json", "samples.jsonl", "records.json"):
        if (run / name).exists():
            shutil.copyfile(run / name, out / name)
    if (run / "ir").exists():
        shutil.copytree(run / "ir", out / "ir")
    known = json.loads((run / "identity.json").read_text())
    known["environment"]["variables"] = collect_variables()
    update_identity(out, **{name: known[name] for name in READ_BACK if name in known})
    print((run / "run.log").read_text(), end="")


def hang(argument: str) -> None:
    """Never end, whatever asks for it, and leave a grandchild that does the same."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    grandchild = subprocess.Popen([sys.executable, "-c", f"import signal, time; {IGNORE}; time.sleep(600)"])
    Path(argument).write_text(f"{os.getpid()} {grandchild.pid}")
    time.sleep(600)


def leave_a_grandchild(argument: str) -> None:
    grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    Path(argument).write_text(str(grandchild.pid))


def wait(argument: str) -> None:
    """Say that the run is on, then wait for the test's leave to go on."""
    Path(argument).write_text(str(os.getpid()))
    leave, deadline = Path(f"{argument}.leave"), time.monotonic() + WAIT_SECONDS
    while not leave.exists() and time.monotonic() < deadline:
        time.sleep(0.05)


def die(argument: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def full_disk(argument: str) -> None:
    print("E   OSError: [Errno 28] No space left on device: 'result.json'")
    sys.exit(1)


def fail(argument: str) -> None:
    Path(argument).unlink(missing_ok=True)  # the device goes away with the run
    sys.exit(1)


WAIT_SECONDS = 300
IGNORE = "signal.signal(signal.SIGTERM, signal.SIG_IGN)"
FAULTS = {
    "hang": hang,
    "leave": leave_a_grandchild,
    "wait": wait,
    "die": die,
    "full_disk": full_disk,
    "fail": fail,
}

if __name__ == "__main__":
    main()
