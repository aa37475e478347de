"""The campaign in the text of a plan, as a script of the workflow is handed it."""

from __future__ import annotations

import json
from dataclasses import replace

from zlbench_core.campaign.model import Campaign
from zlbench_core.errors import ConfigError


def read_plan(plan: str, time_limit: int | None = None) -> Campaign:
    """The campaign that a plan was made from; the time limit is a resource, not a reason to measure again.

    Raises ConfigError for a text that is no plan, or whose secrets this process was not handed.
    """
    try:
        campaign = Campaign.from_json(json.loads(plan)["campaign"])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"no plan of a campaign: {type(error).__name__}: {error}") from None
    return campaign if time_limit is None else replace(campaign, time_limit=time_limit)
