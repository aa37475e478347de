import sys

from tests import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
