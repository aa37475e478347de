"""zlbench preflight: can a campaign run on this machine?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from zlbench_core.commands._common import add_command, print_json, print_text


def add(commands: Any) -> None:
    parser = add_command(commands, "preflight", run, "Check that a campaign can run on this machine.")
    parser.add_argument("--configfile", type=Path, help="a campaign file; the embedded default without it")
    parser.add_argument("--backend", help="this backend instead of the campaign's")
    parser.add_argument("--ops", help="these operators instead of the campaign's, comma separated")


def run(args: argparse.Namespace) -> int:
    from zlbench_core.campaign.load import default_config, load_campaign
    from zlbench_core.campaign.yaml_file import read_campaign_file
    from zlbench_core.run.preflight import check_files, preflight

    config = read_campaign_file(args.configfile) if args.configfile else default_config()
    overrides = {name: value for name in ("backend", "ops") if (value := getattr(args, name))}
    campaign = load_campaign({**config, **overrides}, source=str(args.configfile or "config/config.yaml"))
    for one in campaign.subject.sides:
        check_files(campaign, one)
    facts = [preflight(campaign.check_of(name)) for name in campaign.subject.side_names]
    if args.json:
        print_json(facts)
        return 0
    for side in facts:
        devices = (
            ", ".join(f"{device['index']} {device['name']}" for device in side["devices"]) or "by scheduler"
        )
        told = f"python {side['python']}, torch {side['torch']}, triton {side['triton']}"
        print_text(f"PREFLIGHT_OK side={side['side']} backend={side['backend']}: {told}; devices {devices}\n")
    return 0
