"""One round: fresh processes of both sides on one device."""

from __future__ import annotations

from pathlib import Path

from zlbench_core.autotune.pins import validate_pins
from zlbench_core.campaign import Campaign
from zlbench_core.devices import lease
from zlbench_core.duet.pair import replay_pair
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
) -> None:
    """Run every side once while this process holds the device: by turns of milliseconds in a duet, else one after
    the other, in the order of A B B A over the rounds."""
    requests = {
        name: _request(campaign, op, number, name, out_dirs[name].absolute(), pins_dir)
        for name in campaign.side_names
    }
    with lease(campaign.backend, device, f"replay {op} round {number}", PATIENCE) as held:
        missing = _missing_pins(pins_dir)
        if missing is not None:
            order = campaign.side_names
            for request in requests.values():
                not_run(request, held, missing)
        elif campaign.duet is not None:
            order = replay_pair(requests, held, campaign.duet)
        else:
            order = side_order(campaign.side_names, number)
            for name in order:
                run_benchmark(requests[name], held)
        for place, name in enumerate(order):
            update_identity(out_dirs[name], order=place)


def side_order(sides: tuple[str, ...], number: int) -> tuple[str, ...]:
    """Odd rounds run A B, even rounds B A, so that a steady drift favours neither side."""
    return sides if number % 2 else sides[::-1]


def _request(
    campaign: Campaign, op: str, number: int, side: str, out_dir: Path, pins_dir: Path | None
) -> RunRequest:
    return RunRequest(
        campaign,
        campaign.side(side),
        op,
        out_dir,
        "replay" if pins_dir else "off",
        round=number,
        pins_dir=pins_dir.absolute() if pins_dir else None,
        plan=round_digest(campaign, op),
    )


def _missing_pins(pins_dir: Path | None) -> str | None:
    if pins_dir is None:
        return None
    try:
        validate_pins(pins_dir.absolute())
    except PinsError as error:
        return f"no pins: {error}"
    return None
