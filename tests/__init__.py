"""The tests, in the rooms of what they test: tests/unit/ROOM/test_MODULE.py."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "tests" / "data"
