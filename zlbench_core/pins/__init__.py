"""Pins: what a tuner chose, recorded once and replayed to the letter. No torch or triton is imported here."""

from zlbench_core.pins.merge import MergeResult, merge_shards
from zlbench_core.pins.pins import Pins, load_pins, validate_pins

__all__ = ["MergeResult", "Pins", "load_pins", "merge_shards", "validate_pins"]
