"""What two runs must share to be compared."""

from zlbench_core.caliber.door import caliber_complaints, caliber_hazards

__all__ = ["caliber_complaints", "caliber_hazards"]
