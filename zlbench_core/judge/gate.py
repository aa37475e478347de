"""After round 1: did the two sides compile to different code at all?"""

from __future__ import annotations

from pathlib import Path

from zlbench_core.campaign.model import RoundAsked
from zlbench_core.common.files import write_json
from zlbench_core.judge.ir.gate import gate, read_gate
from zlbench_core.records.identity import load_identity


def compare_ir(asked: RoundAsked, op: str, run_dirs: dict[str, Path], out_path: Path) -> None:
    """Write the operator's ir_gate.json. A side that failed leaves the answer unknown, never identical."""
    identities = {side: load_identity(folder) for side, folder in run_dirs.items()}
    failures = [
        f"{side}: {found['failure']} ({run_dirs[side] / 'run.log'})"
        for side, found in identities.items()
        if found["status"] != "complete"
    ]
    a, b = ([run_dirs[side] / "ir"] for side in asked.subject.side_names)
    found = gate(op, a, b, out_path, failures)
    if found["marker"]:
        print(f"{found['marker']} op={op}", flush=True)


def gate_device(gates: list[Path], out_path: Path) -> None:
    """Collect the gates of the operators that share a device into one file that the checkpoint reads."""
    found = map(read_gate, gates)
    write_json(out_path, {gate["op"]: gate["verdict"] for gate in found})
