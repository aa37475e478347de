"""Fixtures that several rooms share."""

from tests.unit.ir.compiled import archive, compiled
from tests.unit.judge.real_runs import finished_once, make_campaign, real_runs

__all__ = ["archive", "compiled", "finished_once", "make_campaign", "real_runs"]
