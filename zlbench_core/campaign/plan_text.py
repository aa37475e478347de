"""What a step of the workflow is asked, in the text of its plan."""

from __future__ import annotations

import json

from zlbench_core.campaign.model import AskedT
from zlbench_core.errors import ConfigError


def read_plan(plan: str, kind: type[AskedT]) -> AskedT:
    """What a plan was made from: `kind` is what its rule depends on, and has every key of it and no other.

    Raises ConfigError for a text that is no such plan, or whose secrets this process was not handed.
    """
    try:
        return kind.from_json(json.loads(plan)["campaign"])
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"no plan of a campaign: {type(error).__name__}: {error}") from None
