"""Verdicts as pure functions over stored rounds: nothing is read, written or drawn at random here."""

from zlbench_core.campaign.looks import Looks, check_level, fixed_looks, minimum_rounds, plan_looks
from zlbench_core.records.superblock import Superblock
from zlbench_core.verdicts.campaign import CampaignVerdict, decide_campaign
from zlbench_core.verdicts.model import OperatorVerdict, RowRounds, RowVerdict
from zlbench_core.verdicts.operator import decide_operator
from zlbench_core.verdicts.words import Verdict

__all__ = [
    "CampaignVerdict",
    "Looks",
    "OperatorVerdict",
    "RowRounds",
    "RowVerdict",
    "Superblock",
    "Verdict",
    "check_level",
    "decide_campaign",
    "decide_operator",
    "fixed_looks",
    "minimum_rounds",
    "plan_looks",
]
