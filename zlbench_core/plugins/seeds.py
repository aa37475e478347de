"""pytest plugin: every run of a benchmark draws the same random numbers, whatever ran before it in the process.

Otherwise the sides are timed on other data. And a value that is drawn and handed to a kernel as an integer decides
by its divisibility which variant compiles: on an H200 one FlagGems run in 16 filled a CUDA generator's random seed
by another variant than its neighbours, and was refused for it.
"""

from __future__ import annotations

import random
import sys

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collectstart(collector: pytest.Collector) -> None:
    if isinstance(collector, pytest.Module):  # what it draws as it is imported
        _seed()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    _seed()


def _seed() -> None:
    import torch

    from zlbench_core.suite.inputs import SEED

    random.seed(SEED)
    if (numpy := sys.modules.get("numpy")) is not None:  # an interpreter of a vendor's may lack it
        numpy.random.seed(SEED)
    torch.manual_seed(SEED)  # of all devices; one that is not open yet gets it when it opens
