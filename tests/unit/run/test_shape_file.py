"""A shape_file is read before anything runs; the suite would pass over a wrong name in silence."""

from __future__ import annotations

import pytest

from zlbench_core.campaign.load import load_campaign
from zlbench_core.errors import PreflightError
from zlbench_core.run.preflight import check_files
from zlbench_core.run.shape_file import MAX_BYTES, check_shape_file, shape_notes
from zlbench_core.start.snakemake_api import _begin
from zlbench_core.suite.config import HERE

GOOD = "add: {shapes: [[64, 64]]}\n"
OWN = """
from zlbench_core.suite import base
from shared_benchmarks import Rows

class SaxpyBenchmark(base.PointwiseBenchmark): ...

def test_saxpy():
    SaxpyBenchmark("saxpy_fused", None, None).run()
"""


@pytest.fixture
def campaign(tmp_path):
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "test_saxpy.py").write_text(OWN)

    def campaign(shapes: str | bytes, **changes):
        path = tmp_path / "shapes.yaml"
        path.write_bytes(shapes if isinstance(shapes, bytes) else shapes.encode())
        given = {"backend": "cpu", "ops": ["add", "saxpy"], "suite_dirs": [str(tmp_path / "own")]}
        return load_campaign({**given, "sides": {"a": {}, "b": None}, "shape_file": str(path), **changes})

    return campaign


@pytest.mark.parametrize(
    ("shapes", "told"),
    [
        ("add: {shapes: [[64, 64]]}\nmm: [1\n", "invalid YAML: line 3, column 1: "),
        (b"add: \xff", "invalid YAML"),
        ("add: {shapes: [[" + "9" * 5000 + "]]}", "invalid YAML"),
        ("[" * 100000, "invalid YAML"),
        ("- [64, 64]", "[[64, 64]]; a mapping of operators or benchmark classes is expected"),
        ("", "None; a mapping of operators or benchmark classes is expected"),
        ("add: [[64, 64]]", "add: [[64, 64]]; {shapes: [[16, 64], ...]} is expected"),
        ("add: {shape: [[64, 64]]}", "add: no key shapes, found shape"),
        ("add: {shapes: [64, 64]}", "add: shapes holds 64; a list of positive integers"),
        ("add: {shapes: [[64, -1]]}", "add: shapes holds [64, -1]; a list of positive integers"),
        ("add: {shapes: [[64, true]]}", "add: shapes holds [64, True]"),
        ("add: {shapes: [null]}", "add: shapes holds None"),
        ("add: {shapes: []}", "add: shapes is []; a list of shapes"),
        (
            "ad: {shapes: [[64, 64]]}",
            "neither an operator nor a benchmark class of provider builtin; did you mean add?",
        ),
        ("saxpi: {shapes: [[64, 64]]}", "did you mean saxpy?"),
        ("PointwiseBenchmrk: {shapes: [[64, 64]]}", "did you mean PointwiseBenchmark?"),
        ("add: {shapes: &a [[64, 64]]}\nad: {shapes: *a}", "did you mean add?"),
        ("qqqq: {shapes: [[64, 64]]}", "known are"),
        (  # as in the file of another suite, whose shapes may hold more
            "zeta: &zeta {shapes: [[64]]}\nvdot: *zeta\nmedian_dim: {shapes: [[[32, 384], 1, false]]}",
            "zeta is neither an operator nor a benchmark class of provider builtin; known are ",
        ),
        (GOOD + "#" * MAX_BYTES, "larger than 1 MiB"),
    ],
)
def test_a_mistake_is_refused_with_its_file_and_key(campaign, shapes, told):
    given = campaign(shapes)
    with pytest.raises(PreflightError) as refused:
        check_files(given, given.subject.sides[0])
    line = str(refused.value)
    assert refused.value.check == "shape_file"
    assert line.startswith(f"shape_file {given.subject.shape_file}: ")
    assert told in line
    assert "\n" not in line
    assert len(line) < 700


@pytest.mark.parametrize(
    "shapes",
    [
        *(path.read_text() for path in HERE.glob("core_shapes*.yaml")),
        "SaxpyBenchmark: {shapes: [[64]], shape_desc: N}",
        "saxpy_fused: {shapes: [[64]]}",  # the op_name of its benchmark
        "Rows: {shapes: [[64]]}",  # a class that the file has from elsewhere
        "small: &small {shapes: [[64]]}\nadd: *small\nsaxpy:\n  <<: *small\n",
    ],
)
def test_names_and_anchors_that_the_suite_takes_are_taken(campaign, shapes):
    check_shape_file(campaign(shapes).subject)


def test_a_file_of_operators_that_does_not_parse_is_pytests_to_tell(campaign, tmp_path):
    (tmp_path / "own" / "test_saxpy.py").write_text(OWN.replace("def test_saxpy()", "def test_saxpy("))
    check_shape_file(campaign("SaxpyBenchmark: {shapes: [[64]]}").subject)
    with pytest.raises(PreflightError, match="did you mean saxpy"):
        check_shape_file(campaign("saxpi: {shapes: [[64]]}").subject)


def test_a_huge_value_made_of_aliases_is_told_briefly(campaign):
    doubled = "".join(f", &x{level} [*x{level - 1}, *x{level - 1}]" for level in range(1, 30))
    bomb = f"add: {{shapes: [&x0 [1, 1]{doubled}]}}"
    with pytest.raises(PreflightError, match="positive integers"):
        check_shape_file(campaign(bomb).subject)


def test_the_other_providers_shapes_may_be_nested_and_named_freely(campaign):
    other = {"backend": "cuda", "provider": "flaggems", "flaggems_dir": "/gone", "suite_dirs": []}
    nested = "any: &any {shapes: [[[32, 32], [[8], [2, 8]], [8], false], [4, 0, 1]]}\nvdot:\n  <<: *any\n"
    check_shape_file(campaign(nested, **other).subject)
    with pytest.raises(PreflightError, match=r"vdot: shapes holds 64; a list such as"):
        check_shape_file(campaign("vdot: {shapes: [64]}", **other).subject)


def test_operators_that_the_file_does_not_name_are_noted_at_the_start(campaign, capsys):
    given = campaign(GOOD)
    note = f"shape_file {given.subject.shape_file} does not name saxpy, which keeps its class's shapes"
    assert shape_notes(given) == [note]
    _begin(given, ["--dry-run"])
    assert f"zlbench: {note}\n" in capsys.readouterr().err
    assert shape_notes(campaign(GOOD + "saxpy_fused: {shapes: [[64]]}")) == []
    assert shape_notes(load_campaign({"backend": "cpu", "ops": ["add"], "sides": {"a": {}, "b": None}})) == []
