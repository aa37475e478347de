"""One round: fresh processes of both sides, side by side on one device."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from zlbench_core.autotune.pins import validate_pins
from zlbench_core.campaign import Campaign
from zlbench_core.devices import Lease, lease, named
from zlbench_core.errors import PinsError
from zlbench_core.identity import update_identity
from zlbench_core.plans import round_digest
from zlbench_core.runner import RunRequest, not_run, run_benchmark

PATIENCE = 6 * 3600.0


def replay_round(
    campaign: Campaign,
    op: str,
    number: int,
    device: str | int | None,
    out_dirs: dict[str, Path],
    pins_dir: Path | None,
    at_once: int = 1,
) -> None:
    """Run every side once, in the order of A B B A over the rounds, while this process holds the device.

    Where nothing is measured no device is held, and up to `at_once` sides run at the same time.
    """
    sides = side_order(campaign.side_names, number)
    folders = {side: out_dirs[side].absolute() for side in sides}
    if campaign.holds_devices:
        with lease(campaign.backend, device, f"replay {op} round {number}", PATIENCE) as held:
            for place, side in enumerate(sides):
                _replay(campaign, op, number, place, side, folders[side], pins_dir, held)
        return
    held = named(campaign.backend, device)
    # Processes, since an interrupt must reach the one that waits for each benchmark.
    with ProcessPoolExecutor(at_once, mp_context=multiprocessing.get_context("fork")) as pool:
        started = [
            pool.submit(_replay, campaign, op, number, place, side, folders[side], pins_dir, held)
            for place, side in enumerate(sides)
        ]
        for run in started:
            run.result()


def side_order(sides: tuple[str, ...], number: int) -> tuple[str, ...]:
    """Odd rounds run A B, even rounds B A, so that a steady drift favours neither side."""
    return sides if number % 2 else sides[::-1]


def _replay(
    campaign: Campaign,
    op: str,
    number: int,
    place: int,
    side: str,
    out_dir: Path,
    pins_dir: Path | None,
    held: Lease,
) -> None:
    mode = "replay" if pins_dir else "off"
    pins = pins_dir.absolute() if pins_dir else None
    digest = round_digest(campaign, op)
    request = RunRequest(
        campaign,
        campaign.side(side),
        op,
        out_dir,
        mode,
        round=number,
        pins_dir=pins,
        plan=digest,
    )
    if pins:
        try:
            validate_pins(pins)
        except PinsError as error:
            not_run(request, held, f"no pins: {error}")
            update_identity(out_dir, order=place)
            return
    run_benchmark(request, held)
    update_identity(out_dir, order=place)
