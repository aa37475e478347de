"""pytest plugin: makes the process one side of a duet. It stands still until the coordinator gives it the device.

Needs ZL_DUET_SOCKET and ZL_DUET_SIDE, which the runner sets. The connection is kept until the process has ended:
what the end of a process still does on the device belongs to the time in which the device is its own.
"""

from __future__ import annotations

import os
from contextlib import suppress

import pytest

from zlbench_core.duet import announce
from zlbench_core.duet.client import Client
from zlbench_core.records import messages, run_env

NAME = "zlbench-duet"


class DuetPlugin:
    def __init__(self, client: Client) -> None:
        self.client = client

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.client.tell(messages.NODE_ENDED, node=nodeid)

    def pytest_unconfigure(self) -> None:
        announce.stop_listening()
        self.client.tell(messages.BYE)


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Before any conftest is imported, since a suite's may already open the device."""
    with suppress(ImportError):  # where it is missing, the benchmark says so
        import torch  # noqa: F401 - both sides read its files at once, and neither touches the device yet
    client = Client(os.environ[run_env.DUET_SOCKET], os.environ[run_env.DUET_SIDE])
    early_config.pluginmanager.register(DuetPlugin(client), NAME)
