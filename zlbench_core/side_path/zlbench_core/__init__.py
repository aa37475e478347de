"""The package two folders up, for an interpreter of another environment.

What lies beside the package, a whole site-packages where it is installed, is for the interpreter that it was installed
for. So a side has this folder on its path, which holds nothing but the package, and nothing has to be written for it.
"""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

_package = Path(__file__).resolve().parents[2]
_spec = spec_from_file_location(
    __name__, _package / "__init__.py", submodule_search_locations=[str(_package)]
)
assert _spec is not None
assert _spec.loader is not None
sys.modules[__name__] = module_from_spec(_spec)  # the import ends with whatever stands here
_spec.loader.exec_module(sys.modules[__name__])
