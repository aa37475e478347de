from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.unit.ir.ir_helpers import facts
from zlbench_core.common.files import sha256_of
from zlbench_core.errors import ArchiveError
from zlbench_core.ir import normalise
from zlbench_core.ir.archive import read_archive, read_variant
from zlbench_core.ir.writer import ArchiveWriter

STAGES = {"ttir": b"module {\n}\n", "cubin": b"\x00\xff"}
PIPELINE = ("ttir", "ttgir", "cubin")


def test_what_was_written_is_read_back(archive: Callable[..., Path]) -> None:
    run = archive("a", {"add": STAGES}, pipeline=PIPELINE)
    (variant,) = read_archive(run).variants
    assert (variant.kernel, variant.variant_id) == ("add", facts("add").variant_id)
    assert (variant.stages, variant.missing) == (("ttir", "cubin"), ("ttgir",))
    assert variant.read_stage("cubin") == STAGES["cubin"]
    assert variant.config["constexprs"] == {"BLOCK": 128}
    assert variant.document["signature"] == ["x: *fp32", "n: i32", "BLOCK: constexpr"]
    assert read_archive(run / "ir") == read_archive(run)


def test_a_lone_stage_of_an_unknown_pipeline_is_known_to_be_incomplete(archive: Callable[..., Path]) -> None:
    (variant,) = read_archive(archive("a", {"add": {"mubin": b"\x00\xff"}})).variants
    assert variant.missing


def test_the_same_content_from_many_threads_is_stored_once(tmp_path: Path) -> None:
    writer = ArchiveWriter(tmp_path)
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(writer.add, facts("add"), STAGES, PIPELINE) for _ in range(64)]:
            done.result()
    assert [entry["path"] for entry in writer.finish()["variants"]] == [f"add/{facts('add').variant_id}"]


def test_other_content_of_the_same_identity_stands_beside_it(tmp_path: Path) -> None:
    writer = ArchiveWriter(tmp_path)
    writer.add(facts("add", options={"waves_per_eu": 0}), STAGES, PIPELINE)
    writer.add(facts("add", options={"waves_per_eu": 2}), {**STAGES, "cubin": b"\x01\xff"}, PIPELINE)
    writer.finish()
    paths = [variant.path.name for variant in read_archive(tmp_path).variants]
    assert paths == [facts("add").variant_id, f"{facts('add').variant_id}.1"]


def test_the_archive_of_an_earlier_run_is_gone_when_the_next_one_starts(archive: Callable[..., Path]) -> None:
    run = archive("a", {"add": STAGES})
    ArchiveWriter(run)
    with pytest.raises(ArchiveError, match="does not exist"):
        read_archive(run)


def test_a_failure_makes_the_archive_unreadable_with_its_reason(tmp_path: Path) -> None:
    writer = ArchiveWriter(tmp_path)
    writer.add(facts("add"), STAGES, PIPELINE)
    writer.fail("kernel mul: OSError: disk full")
    writer.finish()
    with pytest.raises(ArchiveError, match="is 'failed': kernel mul: OSError: disk full"):
        read_archive(tmp_path)


def test_a_stage_that_cannot_be_a_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArchiveError, match=r"'\.\./x'"):
        ArchiveWriter(tmp_path).add(facts("add"), {"../x": b""}, ())


def test_a_kernel_whose_name_is_no_file_name_is_stored_all_the_same(archive: Callable[..., Path]) -> None:
    (variant,) = read_archive(archive("a", {"@k/<lambda>": STAGES})).variants
    assert variant.path.parent.name == "_k__lambda_"
    assert variant.kernel == "@k/<lambda>"


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("ttir", "module {\n changed }\n", "was changed after it was archived"),
        ("ttir", None, "unreadable stage"),
        ("variant.json", '{"schema_version": 1}', "was changed after it was archived"),
        ("variant.json", '{"schema_version": 7}', "has schema_version 7; 1 is expected"),
        ("variant.json", "[", "IR archive .* cannot be read"),
        (
            "../../index.json",
            '{"schema_version": 1, "status": "complete"}',
            "malformed IR archive .*variants",
        ),
        ("../../index.json", '{"schema_version": 1}', "is None: no reason given"),
        ("../../index.json", "[]", "holds list; a JSON object is expected"),
    ],
)
def test_an_archive_that_is_not_what_its_digests_say_is_refused(
    archive: Callable[..., Path], name: str, content: str | None, message: str
) -> None:
    run = archive("a", {"add": STAGES})
    path = run / "ir" / "add" / facts("add").variant_id / name
    path.unlink() if content is None else path.write_text(content)
    with pytest.raises(ArchiveError, match=message):
        read_archive(run)


@pytest.mark.parametrize(
    "name", ["kernel", "variant", "stages_missing", "normaliser", "options", "signature", "num_warps"]
)
def test_a_variant_that_lacks_what_is_compared_is_refused_though_it_is_vouched_for(
    archive: Callable[..., Path], name: str
) -> None:
    run = archive("a", {"add": STAGES})
    path = run / "ir" / "add" / facts("add").variant_id / "variant.json"
    path.write_text(
        json.dumps({key: one for key, one in json.loads(path.read_text()).items() if key != name})
    )
    index = json.loads((run / "ir" / "index.json").read_text())
    index["digests"][str(path.relative_to(run / "ir"))] = sha256_of(path)
    (run / "ir" / "index.json").write_text(json.dumps(index))
    with pytest.raises(ArchiveError, match=f"malformed IR archive .* KeyError: '{name}'"):
        read_archive(run)


def test_digests_made_by_other_rules_are_made_anew(archive: Callable[..., Path]) -> None:
    run = archive("a", {"add": STAGES})
    (variant,) = read_archive(run).variants
    document = json.loads((variant.path / "variant.json").read_text())
    document["normaliser"] = normalise.VERSION - 1
    document["stages"][0]["normalised"] = "of other rules"
    (variant.path / "variant.json").write_text(json.dumps(document))
    assert read_variant(variant.path).digests == variant.digests
