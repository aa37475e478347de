"""One round: fresh processes of both sides, on one device that is held throughout, or on none."""

from __future__ import annotations

import multiprocessing
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from zlbench_core.campaign.model import RoundAsked
from zlbench_core.errors import PinsError
from zlbench_core.pins.pins import discarded_cause, validate_pins
from zlbench_core.records.identity import update_identity
from zlbench_core.run.devices import Lease, lease, named
from zlbench_core.run.duet.pair import replay_pair
from zlbench_core.run.plans import round_digest
from zlbench_core.run.runner import RunRequest, not_run, run_benchmark

PATIENCE = 6 * 3600.0


def replay_round(
    asked: RoundAsked,
    op: str,
    number: int,
    device: str | int | None,
    out_dirs: dict[str, Path],
    pins_dir: Path | None,
    time_limit: int,
    at_once: int = 1,
) -> None:
    """Run every side once while this process holds the device: by turns of milliseconds in a duet, else one after
    the other, in the order of A B B A over the rounds.

    `time_limit` of each process, in seconds. Where nothing is measured no device is held,
    and up to `at_once` sides run at the same time.
    """
    requests = {
        name: _request(asked, op, number, name, out_dirs[name].absolute(), pins_dir, time_limit)
        for name in asked.subject.side_names
    }
    if asked.timing.holds_device(asked.subject.backend):
        with lease(asked.subject.backend, device, f"replay {op} round {number}", PATIENCE) as held:
            order = _measure(asked, number, requests, held, pins_dir)
    else:
        order = asked.subject.side_names
        _compile(requests, named(asked.subject.backend, device), at_once)
    for place, name in enumerate(order):
        update_identity(out_dirs[name], order=place)


def side_order(sides: tuple[str, ...], number: int) -> tuple[str, ...]:
    """Odd rounds run A B, even rounds B A, so that a steady drift favours neither side."""
    return sides if number % 2 else sides[::-1]


def _measure(
    asked: RoundAsked,
    number: int,
    requests: Mapping[str, RunRequest],
    held: Lease,
    pins_dir: Path | None,
) -> tuple[str, ...]:
    """Returns the sides in the order in which they were started."""
    missing = _missing_pins(pins_dir)
    if missing is not None:
        for request in requests.values():
            not_run(request, held, missing)
        return asked.subject.side_names
    if asked.timing.duet is not None:
        return replay_pair(requests, held, asked.timing.duet)
    order = side_order(asked.subject.side_names, number)
    for name in order:
        run_benchmark(requests[name], held)
    return order


def _compile(requests: Mapping[str, RunRequest], held: Lease, at_once: int) -> None:
    # Processes, since an interrupt must reach the one that waits for each benchmark.
    with ProcessPoolExecutor(at_once, mp_context=multiprocessing.get_context("fork")) as pool:
        started = [pool.submit(run_benchmark, request, held) for request in requests.values()]
        for run in started:
            run.result()


def _request(
    asked: RoundAsked,
    op: str,
    number: int,
    side: str,
    out_dir: Path,
    pins_dir: Path | None,
    time_limit: int,
) -> RunRequest:
    return RunRequest(
        asked,
        asked.subject.side(side),
        op,
        out_dir,
        "replay" if pins_dir else "off",
        time_limit,
        round=number,
        pins_dir=pins_dir.absolute() if pins_dir else None,
        plan=round_digest(asked, op),
    )


def _missing_pins(pins_dir: Path | None) -> str | None:
    if pins_dir is None:
        return None
    try:
        cause = discarded_cause(pins_dir)
        if cause is not None:
            return f"no pins: {cause}"
        validate_pins(pins_dir.absolute())
    except PinsError as error:
        return f"no pins: {error}"
    return None
