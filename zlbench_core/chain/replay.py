"""One round: fresh processes of both sides, side by side on one device."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
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
    sides = list(enumerate(side_order(campaign.side_names, number)))

    def run(place: int, side: str, held: Lease) -> None:
        _replay(campaign, op, number, side, out_dirs[side].absolute(), pins_dir, held)
        update_identity(out_dirs[side], order=place)

    if campaign.holds_devices:
        with lease(campaign.backend, device, f"replay {op} round {number}", PATIENCE) as held:
            for place, side in sides:
                run(place, side, held)
        return
    held = named(campaign.backend, device)
    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(lambda item: run(*item, held), sides))


def side_order(sides: tuple[str, ...], number: int) -> tuple[str, ...]:
    """Odd rounds run A B, even rounds B A, so that a steady drift favours neither side."""
    return sides if number % 2 else sides[::-1]


def _replay(
    campaign: Campaign, op: str, number: int, side: str, out_dir: Path, pins_dir: Path | None, held: Lease
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
            return
    run_benchmark(request, held)
