"""For all tests: no example of hypothesis is timed, since a busy machine is no failure, and no terminal has a width."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile("zlbench", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("zlbench")
os.environ.pop("COLUMNS", None)  # xdist sets it for its workers
