"""Real runs of a campaign, and what becomes of them when one thing is another."""

from __future__ import annotations

import json
import shutil
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests import DATA
from zlbench_core.campaign.load import load_campaign
from zlbench_core.common.files import sha256_of, write_json
from zlbench_core.ir.fingerprint import VariantFacts
from zlbench_core.ir.writer import ArchiveWriter
from zlbench_core.judge import store
from zlbench_core.judge.ir.gate import gate
from zlbench_core.judge.summary import summarise

REAL = DATA / "campaign-cpu" / "results"
SIDES = {"a": {}, "b": {"env": {"TRITON_F32_DEFAULT": "ieee"}}}
FACTS = VariantFacts(
    kernel="mm_kernel",
    arguments=("x",),
    signature={"0": "*fp32"},
    constexprs={},
    attributes={},
    launch={"num_warps": 4, "num_stages": 3, "num_ctas": 1, "maxnreg": None},
    target={"backend": "cuda", "arch": 90, "warp_size": 32},
    options={},
    shared=0,
)


class RealRuns:
    """A results folder whose runs are copies of two real ones. Paths are relative: the gate's are."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def real(self) -> RealRuns:
        """The two runs and their gate as they are."""
        shutil.copytree(REAL, self.root / "results")
        return self

    def folder(self, side: str, number: int = 1, op: str = "mm") -> Path:
        return Path("results/cpu") / op / side / f"r{number}"

    def identity(self, side: str, number: int = 1) -> dict:
        return json.loads((self.folder(side, number) / "run_identity.json").read_text())

    def write_identity(self, side: str, identity: dict, number: int = 1) -> None:
        write_json(self.folder(side, number) / "run_identity.json", identity)

    def add(
        self,
        op: str,
        side: str,
        number: int,
        ms: float | None,
        code: str,
        more: tuple[dict, ...] = (),
        **changes,
    ) -> None:
        """A copy of the real run of that side as round `number` of `op`, `ms` milliseconds per call, None as where
        nothing is timed. `more`: what is otherwise in each variant beyond the one."""
        folder = self.folder(side, number, op)
        shutil.copytree(REAL / "cpu" / "mm" / side / "r1", folder, dirs_exist_ok=True)
        self._retime(folder, ms)
        shutil.rmtree(folder / "ir")
        writer = ArchiveWriter(folder)
        for facts in (FACTS, *(replace(FACTS, **other) for other in more)):
            writer.add(facts, {"ttir": code.encode(), "ttgir": code.encode()}, ())
        writer.finish()
        identity = json.loads((folder / "run_identity.json").read_text())
        identity |= {
            "op": op,
            "round": number,
            "started": f"{op} {side} {number}",
            "test_node": f"test_{op}.py",
        }
        identity["digests"] = {name: sha256_of(folder / name) for name in identity["digests"]}
        write_json(folder / "run_identity.json", {**identity, **changes})

    def _retime(self, folder: Path, ms: float | None) -> None:
        report = json.loads((folder / "result.json").read_text())
        [entry] = report.values()
        entry["details"][0]["result"][0]["latency"] = ms
        (folder / "result.json").write_text(json.dumps(report))
        log = (folder / "run.log").read_text().split("\n")
        place = next(number for number, line in enumerate(log) if line.startswith("SUCCESS"))
        log[place] = log[place].replace(log[place].split()[2], "N/A" if ms is None else f"{ms:.6f}")
        (folder / "run.log").write_text("\n".join(log))
        if ms is None:
            (folder / "samples.jsonl").write_text("")
            return
        call = json.loads((folder / "samples.jsonl").read_text())
        call |= {"samples_ms": [ms * (1 + 0.0001 * step) for step in range(-10, 11)], "value_ms": ms}
        (folder / "samples.jsonl").write_text(json.dumps(call) + "\n")

    def gate(self, op: str) -> Path:
        path = Path("results/cpu") / op / "ir_gate.json"
        gate(op, [self.folder("a", 1, op) / "ir"], [self.folder("b", 1, op) / "ir"], path)
        return path

    def folders(self) -> list[Path]:
        return sorted(path.parent for path in Path("results").rglob("run_identity.json"))


@pytest.fixture
def real_runs(tmp_path, monkeypatch) -> RealRuns:
    monkeypatch.chdir(tmp_path)
    # What made the copies is not this campaign as it is now; that guard has tests of its own.
    monkeypatch.setattr(store, "round_digest", lambda campaign, op: "a837c51f789e3d34")
    return RealRuns(tmp_path)


@pytest.fixture(scope="session")
def make_campaign():
    def make(**config):
        return load_campaign(
            {"backend": "cpu", "ops": ["mm"], "sides": SIDES, "dtypes": ["float32"], **config}
        )

    return make


LONG = "scaled_dot_product_attention_backward_of_grouped_queries"


def finished_campaign(root: Path, make_campaign) -> Path:
    """A finished results/cpu below `root`, the working directory: a claim, equal code, a refusal, a long name; pins."""
    runs = RealRuns(root)
    for number in range(1, 7):
        for op, b in (("mm", 20.4), ("add", 20.0), (LONG, 20.0)):
            other = "code" if op == "add" else "other"
            runs.add(op, "a", number, 20.0 + number / 1000, "code", order=(number + 1) % 2)
            runs.add(op, "b", number, b + number / 700, other, order=number % 2)
        runs.add("softmax", "a", number, 1234.5, "code", timer="direct", order=(number + 1) % 2)
        runs.add("softmax", "b", number, 9.87, "other", timer="cuda_graph", order=number % 2)
    ops = ["mm", "add", "softmax", LONG]
    gates = [runs.gate(op) for op in ops]
    with tarfile.open(DATA / "report" / "ab.tar.gz") as archive:
        pins = [one for one in archive if one.name.startswith("./mm/pins")]
        archive.extractall("results/cpu", pins, filter="data")
    summarise(make_campaign(ops=ops, delta=0.02), runs.folders(), gates, Path("results/cpu"))
    return Path("results/cpu").absolute()


@pytest.fixture(scope="session")
def finished_once(tmp_path_factory, make_campaign) -> Path:
    root = tmp_path_factory.mktemp("finished")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        patch.setattr(store, "round_digest", lambda campaign, op: "a837c51f789e3d34")
        return finished_campaign(root, make_campaign)
