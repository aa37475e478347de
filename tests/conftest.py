"""For all tests: a busy machine is no failure of hypothesis, no terminal has a width, and an interrupt arrives."""

from __future__ import annotations

import os
import signal

from hypothesis import HealthCheck, settings

settings.register_profile("zlbench", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("zlbench")
os.environ.pop("COLUMNS", None)  # xdist sets it for its workers
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell without job control
    signal.signal(signal.SIGINT, signal.default_int_handler)
