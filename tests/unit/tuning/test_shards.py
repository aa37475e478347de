from __future__ import annotations

import sys
import types

import pytest

from tests.unit.tuning.autotune_fakes import launch, make_tuner
from zlbench_core.pins.coverage import coverage_gap
from zlbench_core.tuning.claims import Claims
from zlbench_core.tuning.record_mode import RecordMode
from zlbench_core.tuning.recorder import Recorder
from zlbench_core.tuning.shards import Sharding, Split
from zlbench_core.tuning.tuners import Patches

LEVEL = {"comprehensive": False}


class Benchmark:
    """The way a suite's benchmark runs: resolve, then walk each dtype's inputs; no table is empty."""

    shapes = ((1,),)
    dtypes = ("float16", "float32", "bfloat16")

    def __init__(self, op_name):
        self.op_name = op_name
        self.seen = []

    def set_shapes(self):
        self.shapes = [(2,), (3,), (4,), (5,), (6,)]
        if LEVEL["comprehensive"]:
            self.shapes = [*self.shapes, (70,), (80,)]

    def init_user_config(self):
        self.to_bench_dtypes = self.dtypes
        self.set_shapes()

    def get_input_iter(self, dtype):
        yield from self.shapes

    def run(self):
        self.init_user_config()
        for dtype in self.to_bench_dtypes:
            rows = [self.measure(dtype, one) for one in self.get_input_iter(dtype)]
            assert rows[0] is not None

    def measure(self, dtype, one):
        self.seen.append((dtype, one))
        return one


class Transposed(Benchmark):
    def get_input_iter(self, dtype):
        yield from super().get_input_iter(dtype)
        if LEVEL["comprehensive"]:
            for shape in self.shapes:
                yield (*shape, "t")


class OwnShapes(Benchmark):
    def set_shapes(self):
        self.shapes = [(7, 7), (8, 8)]


class OwnInputs(Benchmark):
    """Shapes that the iterator never reads, and two inputs of each of its own."""

    def get_input_iter(self, dtype):
        for size in (10, 20, 30):
            yield size, "a"
            yield size, "b"


class FilteredLate(Benchmark):
    def init_user_config(self):
        super().init_user_config()
        self.shapes = [shape for shape in self.shapes if shape[0] % 2]


class FewerThanShapes(Benchmark):
    def get_input_iter(self, dtype):
        yield self.shapes[0]


class OwnRun(Benchmark):
    def run(self):
        self.init_user_config()
        for dtype in self.to_bench_dtypes:
            for one in self.get_input_iter(dtype):
                self.measure(dtype, one)


class NoShapes(Benchmark):
    def set_shapes(self):
        self.shapes = None

    def get_input_iter(self, dtype):
        yield "one"
        yield "two"


CLASSES = [Benchmark, Transposed, OwnShapes, OwnInputs, FilteredLate, FewerThanShapes, OwnRun, NoShapes]


@pytest.fixture(autouse=True)
def base_module(monkeypatch):
    module = types.ModuleType("benchmark.base")
    module.Benchmark = Benchmark
    monkeypatch.setitem(sys.modules, "benchmark.base", module)


def walk(cls, index, count):
    patches, plan = Patches(), []
    Sharding((index, count), plan).patch(patches)
    try:
        benchmark = cls("op")
        benchmark.run()
    finally:
        patches.undo()
    return benchmark.seen, plan


@pytest.mark.parametrize("comprehensive", [False, True])
@pytest.mark.parametrize("count", [1, 2, 3, 4, 9, 40])
@pytest.mark.parametrize("cls", CLASSES)
def test_the_union_of_the_shards_is_the_serial_sweep(monkeypatch, cls, count, comprehensive):
    monkeypatch.setitem(LEVEL, "comprehensive", comprehensive)
    serial = cls("op")
    serial.run()
    parts = [walk(cls, index, count) for index in range(count)]
    assert {item for seen, _ in parts for item in seen} == set(serial.seen)
    assert coverage_gap([plan for _, plan in parts]) is None
    for seen, _ in parts:
        assert seen == [item for item in serial.seen if item in set(seen)], "in the serial order"


def test_no_item_is_walked_twice_where_every_shard_has_one():
    parts = [walk(Benchmark, index, 4)[0] for index in range(4)]
    assert sum(map(len, parts)) == 15
    assert [len(part) for part in parts] == [4, 4, 4, 3]


def test_a_dtype_falls_to_as_few_shards_as_can_be():
    dtypes = [{dtype for dtype, _ in walk(Benchmark, index, 3)[0]} for index in range(3)]
    assert dtypes == [{"float16"}, {"float32"}, {"bfloat16"}]


def test_the_transposed_input_stays_with_its_shape(monkeypatch):
    monkeypatch.setitem(LEVEL, "comprehensive", True)
    for index in range(4):
        seen = walk(Transposed, index, 4)[0]
        assert {one[:1] for _, one in seen if one[-1] == "t"} == {one for _, one in seen if one[-1] != "t"}


def test_a_dead_shard_is_a_hole(monkeypatch):
    plans = [walk(Benchmark, index, 3)[1] for index in range(3)]
    assert coverage_gap(plans[:2]) is not None
    plans[2][0]["walked"] = {}
    assert coverage_gap(plans) == "no shard walked op bfloat16"


def test_a_shard_that_fails_in_the_middle_of_a_dtype_is_a_hole(monkeypatch):
    def fail(self, dtype, one):
        raise RuntimeError("out of memory")

    patches, plan = Patches(), []
    Sharding((0, 1), plan).patch(patches)
    monkeypatch.setattr(Benchmark, "measure", fail)
    with pytest.raises(RuntimeError):
        Benchmark("op").run()
    patches.undo()
    assert coverage_gap([plan]) == "a shard stopped in the middle of op float16"


def test_merged_keys_are_the_serial_sweeps_keys():
    class Tuned(OwnShapes):
        def measure(self, dtype, one):
            launch(self.tuner, types.SimpleNamespace(dtype=dtype), one[0])
            return one

    def keys(index, count):
        patches, recorder = Patches(), Recorder(None, "cpu")
        RecordMode(recorder, (index, count)).patch(patches)
        try:
            benchmark = Tuned("op")
            benchmark.tuner = make_tuner({32: 0.1, 64: 0.2})
            benchmark.run()
        finally:
            patches.undo()
        return {entry.key_id for entry in recorder.entries}

    serial = keys(0, 1)
    assert len(serial) == 6
    for count in (2, 4):
        shards = [keys(index, count) for index in range(count)]
        assert set().union(*shards) == serial
        assert all(part < serial for part in shards)


def take_turns(claims_folder, cls, count):
    """Shards that run at once, each an item further in turn: what they saw, and their plans."""
    plans = [[] for _ in range(count)]
    walks = []
    for index in range(count):
        patches = Patches()
        sharding = Sharding((index, count), plans[index], claims=Claims(claims_folder, index))
        sharding.patch(patches)
        benchmark = cls("op")
        patches.undo()
        benchmark.init_user_config()
        walks.append([iter(benchmark.get_input_iter(dtype)) for dtype in benchmark.to_bench_dtypes])
    seen = [[] for _ in range(count)]
    for number, dtype in enumerate(Benchmark.dtypes):
        going = dict(enumerate(walk[number] for walk in walks))
        while going:
            for index, items in list(going.items()):
                item = next(items, None)
                if item is None:
                    del going[index]
                else:
                    seen[index].append((dtype, item))
    return seen, plans


@pytest.mark.parametrize("count", [2, 4])
@pytest.mark.parametrize("cls", [Benchmark, Transposed, OwnShapes, OwnInputs])
def test_shards_that_run_at_once_take_what_nobody_has_and_miss_nothing(tmp_path, cls, count):
    serial = cls("op")
    serial.run()
    seen, plans = take_turns(tmp_path, cls, count)
    assert {item for part in seen for item in part} == set(serial.seen)
    assert coverage_gap(plans) is None
    if cls is Benchmark and count == 2:
        assert sum(map(len, seen)) == 15, "nothing twice"
        assert sorted(map(len, seen)) == [6, 9]


def test_a_shard_that_starts_again_takes_what_it_had_and_leaves_what_others_have(tmp_path):
    first, other = Claims(tmp_path, 0), Claims(tmp_path, 1)
    assert first.take("one")
    assert other.take("two")
    again = Claims(tmp_path, 0)
    assert again.take("one")
    assert not again.take("two")
    assert not again.take("one")


def test_a_split_is_a_partition_of_any_number_of_items():
    for count in range(1, 8):
        split = Split(3, 5, count)
        owners = {split.owner(dtype, item) for dtype in range(3) for item in range(20)}
        assert owners == set(range(min(count, 15)))
        for shard in range(count):
            for dtype in range(3):
                owned = any(split.owner(dtype, item) == shard for item in range(20))
                assert split.owns_dtype(shard, dtype) == owned
