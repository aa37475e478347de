"""Two timing sessions over two fake devices, a real coordinator between them."""

from __future__ import annotations

import json
import math
import statistics
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.unit.run.duet.duet_fakes import coins, settings
from tests.unit.timing.timing_fakes import FakeDevice, kernel
from zlbench_core.backends import get_backend
from zlbench_core.duet.client import Client
from zlbench_core.duet.session import DuetSession
from zlbench_core.errors import ZlbenchError
from zlbench_core.records import messages
from zlbench_core.records.superblock import Superblock, superblock_log_ratio
from zlbench_core.run.duet.conductor import Conductor
from zlbench_core.run.duet.coordinator import Coordinator
from zlbench_core.timing.journal import Journal
from zlbench_core.timing.samples import TimedRequest
from zlbench_core.timing.session import Settings, Timers

LEGACY = "CUDA error: operation would make the legacy stream depend on a capturing blocking stream"
GRAPH_CLASS = {"cuda": "CUDAGraph", "musa": "MUSAGraph", "cpu": None}
Rows = list[Callable[[FakeDevice], Callable[[], None]]]


class FakeSide(threading.Thread):
    """Times `rows` one after the other, each of them made for its own device."""

    def __init__(self, name: str, rows: Rows, folder: Path, path: Path, **how: Any) -> None:
        super().__init__(name=name)
        self.rows, self.folder, self.path, self.how = rows, folder, path, how
        self.device, self.flushes = FakeDevice(), 0
        self.values: list[Any] = []
        self.errors: list[str] = []
        self.fields: dict[str, Any] = {}

    def run(self) -> None:
        client = Client(str(self.path), self.name)
        try:
            self._time_all(client, self._session(client))
        finally:
            client.close()

    def _time_all(self, client: Client, session: DuetSession) -> None:
        for row in self.rows:
            try:
                asked = TimedRequest(row(self.device), return_mode=self.how.get("return_mode", "median"))
                self.values.append(session.time(asked))
            except (RuntimeError, ZlbenchError) as error:
                self.values.append(None)
                self.errors.append(str(error))
        session.journal.close()
        self.fields = session.identity_fields()
        client.tell(messages.NODE_ENDED, node="node")
        client.tell(messages.BYE)

    def _session(self, client: Client) -> DuetSession:
        backend = self.how.get("backend", "musa")
        interface = self.device.interface(GRAPH_CLASS[backend])
        timers = Timers(
            direct=pytest.fail,
            graph=pytest.fail,
            interface=lambda: interface,
            known_answer=lambda: True,
            conditions=self.how.get("conditions", dict),
            flush=self._flush,
        )
        asked = Settings(timer=self.how.get("timer", "auto"), op=self.how.get("op", ""))
        session = DuetSession(get_backend(backend), asked, timers, Journal(self.folder), client=client)
        session.node = "node"
        return session

    def _flush(self) -> None:
        self.flushes += 1

    @property
    def lines(self) -> list[dict[str, Any]]:
        path = self.folder / "samples.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def duet(tmp_path: Path) -> Callable[..., tuple[FakeSide, FakeSide]]:
    def play(a: Rows, b: Rows, a_how: Any = None, b_how: Any = None, **how: Any) -> tuple[FakeSide, FakeSide]:
        conductor = Conductor(settings(), coins())
        with Coordinator(conductor, 10.0) as coordinator:
            sides = []
            for name, rows, own in (("a", a, a_how), ("b", b, b_how)):
                folder = tmp_path / name
                folder.mkdir()
                sides.append(FakeSide(name, rows, folder, coordinator.path, **{**how, **(own or {})}))
            for side in sides:
                side.start()
            coordinator.run()
        for side in sides:
            side.join(10)
        assert conductor.failure is None
        return sides[0], sides[1]

    return play


class Launch:
    """A call that is the same row on both sides, whatever it costs there; `args` is what it is known by."""

    def __init__(self, call: Callable[[], Any], name: str) -> None:
        self.call, self.args = call, (name,)

    def __call__(self) -> None:
        self.call()


def launching(cost_ms: float, name: str = "row", **traits: Any) -> Callable[[FakeDevice], Launch]:
    return lambda device: Launch(kernel(device, cost_ms, **traits), name)


def test_both_sides_capture_once_and_replay_in_every_block(duet: Any) -> None:
    a, b = duet([launching(0.010)], [launching(0.011)])
    assert (a.values, b.values) == ([pytest.approx(0.010)], [pytest.approx(0.011)])
    assert (a.device.captures, b.device.captures) == (1, 1)
    (line,) = a.lines
    assert (line["timer"], line["flush_l2"], line["batch"]) == ("cuda_graph", False, b.lines[0]["batch"])
    assert line["batch"] == 23  # 0.25 ms of the slower side's launches
    assert a.flushes == 0
    assert a.fields["timer"] == b.fields["timer"] == "cuda_graph"


@pytest.mark.parametrize("refuses", ["a", "b"])
def test_where_one_side_cannot_capture_both_go_direct_and_both_name_it(
    duet: Any, refuses: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = {name: [launching(0.05, **({"refuse": LEGACY} if name == refuses else {}))] for name in "ab"}
    a, b = duet(rows["a"], rows["b"])
    assert [side.lines[0]["timer"] for side in (a, b)] == ["direct", "direct"]
    assert [side.lines[0]["fallback"] for side in (a, b)] == [f"side {refuses}: {LEGACY}"] * 2
    assert (
        capsys.readouterr().out.count(f"BENCHMARK_DIRECT_NO_CUDAGRAPH node=node row=0: side {refuses}:") == 2
    )
    assert [*a.values, *b.values] == pytest.approx([0.05, 0.05])


def test_a_long_direct_row_is_flushed_before_each_launch_and_a_short_one_is_batched(duet: Any) -> None:
    rows = [launching(0.05), launching(0.005)]
    a, _ = duet(rows, rows, timer="direct")
    long, short = a.lines
    assert (long["batch"], long["flush_l2"], short["batch"], short["flush_l2"]) == (1, True, 50, False)
    assert a.flushes >= len(long["samples_ms"])
    assert a.values == [pytest.approx(0.05), pytest.approx(0.005)]


def test_the_launches_after_a_hand_over_are_kept_apart_and_count_for_nothing(duet: Any) -> None:
    """A launch is slow when the side has just got the device: two of them are discarded here."""

    def slow_at_first(device: FakeDevice) -> Launch:
        since = [0]

        def call() -> None:
            since[0] += 1
            device.launch(5.0 if since[0] <= 2 else 0.1)

        def handed_over() -> dict[str, object]:
            since[0] = 0
            return {}

        device.handed_over = handed_over
        return Launch(call, "row")

    sides = [{"conditions": lambda: threading.current_thread().device.handed_over()}] * 2
    a, b = duet([slow_at_first], [slow_at_first], *sides, timer="direct")
    for side in (a, b):
        (line,) = side.lines
        assert all(block["discarded_ms"] == pytest.approx([5.0, 5.0]) for block in line["blocks"])
        assert line["samples_ms"] == pytest.approx([0.1] * len(line["samples_ms"]))
        assert sum(block["count"] for block in line["blocks"]) == len(line["samples_ms"])


def test_the_stored_blocks_give_the_verdicts_the_same_round_as_the_two_values(duet: Any) -> None:
    def drifting(factor: float) -> Callable[[FakeDevice], Launch]:
        def make(device: FakeDevice) -> Launch:
            return Launch(lambda: device.launch(factor * (0.3 + 0.001 * (device.launches % 37))), "row")

        return make

    a, b = duet([drifting(1.0)], [drifting(1.013)], timer="direct")
    lines = {"A": a.lines[0], "B": b.lines[0]}
    assert lines["A"]["order"] == lines["B"]["order"]
    found = []
    for number, order in enumerate(lines["A"]["order"]):
        blocks = []
        for place, letter in enumerate(order):
            line = lines[letter]
            (block,) = [one for one in line["blocks"] if (one["superblock"], one["place"]) == (number, place)]
            blocks.append(tuple(line["samples_ms"][block["first"] : block["first"] + block["count"]]))
            assert len(block["discarded_ms"]) == 2
        found.append(superblock_log_ratio(Superblock(order, tuple(blocks))))
    assert len(found) == 4
    assert math.log(b.values[0] / a.values[0]) == pytest.approx(statistics.fmean(found), abs=1e-13)
    assert lines["B"]["value_ms"] == b.values[0]


def test_a_row_that_fails_on_one_side_is_nan_on_the_other_and_the_next_is_measured(
    duet: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    def failing(device: FakeDevice) -> Launch:
        def call() -> None:
            device.launch(0.05)
            if device.launches > 30:  # well into its blocks
                raise RuntimeError("the kernel is wrong")

        return Launch(call, "first")

    second = launching(0.2, "second")
    a, b = duet([launching(0.1, "first"), second], [failing, second], timer="direct")
    assert math.isnan(a.values[0])
    assert b.errors == ["the kernel is wrong"]
    assert [a.values[1], b.values[1]] == pytest.approx([0.2, 0.2])
    lost = "node: side b: RuntimeError: the kernel is wrong"
    assert (
        a.fields["measurement"]["pair"]["lost_rows"] == b.fields["measurement"]["pair"]["lost_rows"] == [lost]
    )
    assert capsys.readouterr().out.count(f"BENCHMARK_ROW_LOST node=node: {lost}") == 2
    assert a.fields["measurement"]["rows"] == {"not_measured": 1, "direct": 1}


def test_the_partners_fatal_error_does_not_end_this_process(duet: Any) -> None:
    def faulting() -> None:
        raise RuntimeError("CUDA error: an illegal memory access was encountered")

    rows = [launching(0.1, "first"), launching(0.2, "second")]
    a, b = duet(rows, [lambda device: Launch(faulting, "first"), rows[1]], backend="cuda", timer="direct")
    assert "poisoned" in b.fields["measurement"]
    assert "poisoned" not in a.fields["measurement"]
    assert all(math.isnan(value) for value in a.values)
    assert "illegal memory access" in a.fields["measurement"]["pair"]["lost_rows"][0]
    assert "process poisoned" in a.fields["measurement"]["pair"]["lost_rows"][1]


def test_a_disturbed_block_is_kept_and_its_superblock_is_void_on_both_sides(duet: Any) -> None:
    asked = iter(range(1000))

    def hot_once() -> dict[str, object]:
        return {
            "sm_clock_mhz": 1980,
            "throttle_reasons": ["hw_slowdown"] if next(asked) == 6 else ["sw_power_cap"],
        }

    a, b = duet(
        [launching(0.1)], [launching(0.2)], a_how={"conditions": hot_once}, backend="cuda", timer="direct"
    )
    (line,) = a.lines
    assert line["void"] == b.lines[0]["void"]
    assert [reason for reason in line["void"] if reason] == ["side a: hw_slowdown"]
    assert len(line["blocks"]) == 8
    assert line["blocks"][0]["conditions"]["sm_clock_mhz"] == 1980
    assert "conditions" not in b.lines[0]["blocks"][0]
    assert a.fields["measurement"]["pair"]["void_superblocks"] == 1


def test_the_devices_time_is_told_by_what_it_was_spent_on(duet: Any) -> None:
    a, _ = duet([launching(0.1)], [launching(0.1)], timer="direct")
    spent = a.fields["measurement"]["pair"]["spent_ms"]
    # 4 superblocks of two blocks of 40 samples a side, 2 discarded in each; 2 superblocks of warm-up.
    assert spent == {"timed": 32.0, "discarded": 1.6, "warm_up": 16.8}
    assert a.lines[0]["spent_ms"] == pytest.approx(spent)


def test_a_caller_that_wants_every_sample_gets_them(duet: Any) -> None:
    a, _ = duet([launching(0.1)], [launching(0.1)], timer="direct", return_mode="all")
    assert a.values[0] == a.lines[0]["samples_ms"]
