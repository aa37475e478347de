"""Record one shard; merge the shards into pins or discard them and sweep serially."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from pathlib import Path

from zlbench_core.campaign.model import RecordAsked
from zlbench_core.common.files import write_json
from zlbench_core.pins.merge import merge_shards
from zlbench_core.pins.pins import DISCARDED
from zlbench_core.run.devices import lease
from zlbench_core.run.runner import RunRequest, compiled_folder, fresh_folder, run_benchmark

PATIENCE = 6 * 3600.0

CausesOf = Callable[[Sequence[Path]], list[str]]


def record_shard(
    asked: RecordAsked,
    op: str,
    shard: tuple[int, int],
    device: str | int | None,
    out_dir: Path,
    time_limit: int,
) -> None:
    """Tune one shard of an operator's keys, in at most `time_limit` seconds.

    A shard that fails is a fact that the merge judges.
    """
    [side] = asked.subject.sides
    request = RunRequest(asked, side, op, out_dir.absolute(), "record", time_limit, shard=shard)
    with lease(asked.subject.backend, device, f"record {out_dir}", PATIENCE) as held:
        run_benchmark(request, held)


def publish_pins(
    asked: RecordAsked,
    op: str,
    shard_dirs: list[Path],
    device: str | int | None,
    pins_dir: Path,
    causes_of: CausesOf,
    time_limit: int,
) -> None:
    """Merge complete shards into `pins_dir`, or discard all of them and publish a serial sweep's record.

    When that fails too, meta.json says `status: discarded` and why: the operator then has a status, not a number.
    `causes_of` tells what the failed ones of the folders say for themselves.
    """
    result, swept = merge_shards(shard_dirs, pins_dir), shard_dirs
    shutil.rmtree(compiled_folder(shard_dirs[0]), ignore_errors=True)
    if not result.published and len(shard_dirs) > 1:
        print(f"PINS_DISCARDED op={op} {result.reason}; sweeping serially", flush=True)
        discarded = {"shards": [folder.name for folder in shard_dirs], "reason": result.reason}
        serial = pins_dir.parent / "record" / "serial"
        record_shard(asked, op, (0, 1), device, serial, time_limit)
        result, swept = merge_shards([serial], pins_dir, discarded=discarded), [serial]
    if not result.published:
        reason = "; ".join([*causes_of(swept), str(result.reason)])  # a table cuts what comes last
        print(f"PINS_DISCARDED op={op} {reason}", flush=True)
        fresh_folder(pins_dir)
        write_json(pins_dir / "meta.json", {"schema_version": 1, "status": DISCARDED, "reason": reason})
