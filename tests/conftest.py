"""For all tests: no example of hypothesis is timed, since a busy machine is no failure."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile("zlbench", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("zlbench")
