from __future__ import annotations

import csv
import json
import os
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests import DATA
from tests.unit.report.report_browser import browser_tab, find_browser
from zlbench_core.common.files import sha256_of

STORED = DATA / "report" / "ab.tar.gz"


class Folder:
    """A finished campaign, results/cpu, that a test may change."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with tarfile.open(STORED) as archive:
            archive.extractall(path, filter="data")

    def change(self, name: str, edit: Callable[[Any], Any]) -> None:
        """Edit one JSON in place; what the receipt vouches for is vouched for again."""
        path = self.path / name
        value = json.loads(path.read_text())
        edit(value)
        path.write_text(json.dumps(value, indent=2))
        if name != "receipt.json":
            self.change("receipt.json", lambda receipt: self._vouch(receipt, name))

    def _vouch(self, receipt: dict[str, Any], name: str) -> None:
        for kind in ("identities", "gates"):
            for recorded in receipt[kind]:
                if recorded.endswith(f"/cpu/{name}"):
                    receipt[kind][recorded] = sha256_of(self.path / name)

    def operator(self, op: str, **fields: Any) -> None:
        """Set fields of one operator in verdicts.json."""

        def edit(found: dict[str, Any]) -> None:
            next(one for one in found["operators"] if one["op"] == op).update(fields)

        self.change("verdicts.json", edit)

    def refuse(self, *reasons: str) -> None:
        """As the summary leaves a refused operator behind."""
        self.operator(
            "mm",
            verdict="REFUSED",
            detail="",
            reasons=list(reasons),
            refusals=list(reasons),
            evidence=None,
            looks=None,
            rows=[],
            rounds_needed=None,
            adjusted_p=None,
        )

    def release(self, *reasons: str) -> None:
        self.operator("mm", refusals=list(reasons), note="CALIBER MISMATCH RELEASED")
        self.change("verdicts.json", lambda found: found.update(allow_caliber_mismatch=True))

    def one_sided(self) -> None:
        """Side a alone, each row with torch's latency."""
        self.change("verdicts.json", lambda found: found.update(operators=[], sides=["a"], declared_axis=[]))

        def drop_b(receipt: dict[str, Any]) -> None:
            receipt["config"]["sides"] = receipt["config"]["sides"][:1]
            receipt.update(gates={}, declared_axis=[])
            receipt["identities"] = {k: v for k, v in receipt["identities"].items() if "/a/" in k}

        self.change("receipt.json", drop_b)
        lines = self.table("summary.csv")
        torch = {"latency_torch_ms": "10.0", "speedup": "1.25", "latency_b_ms": "", "ratio": ""}
        self.write_table("summary.csv", [line | torch for line in lines])
        self.write_table(
            "ops_status.csv", [line for line in self.table("ops_status.csv") if line["side"] == "a"]
        )
        (self.path / "ab.csv").write_text((self.path / "ab.csv").read_text().splitlines()[0] + "\n")

    def table(self, name: str) -> list[dict[str, str]]:
        with open(self.path / name, newline="") as stream:
            return list(csv.DictReader(stream))

    def write_table(self, name: str, lines: list[dict[str, str]]) -> None:
        with open(self.path / name, "w", newline="") as stream:
            writer = csv.DictWriter(stream, list(lines[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(lines)


@pytest.fixture
def folder(tmp_path) -> Folder:
    return Folder(tmp_path / "results" / "cpu")


@pytest.fixture(scope="session")
def tab(tmp_path_factory):
    """A page in a real browser. Where one is required, its absence is a failure."""
    program = find_browser()
    if program is None:
        if os.environ.get("ZL_REQUIRE_BROWSER") == "1":
            pytest.fail("ZL_REQUIRE_BROWSER=1 and no chromium on PATH (apt-get install chromium)")
        pytest.skip("no chromium on PATH (apt-get install chromium)")
    with browser_tab(program, tmp_path_factory.mktemp("browser") / "profile") as opened:
        yield opened
