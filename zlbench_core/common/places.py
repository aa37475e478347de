"""Where the files lie that belong to zlbench and are no modules, in a checkout and in a wheel."""

from __future__ import annotations

from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
SIDE_PATH = PACKAGE / "side_path"  # for PYTHONPATH: holds the package and nothing else


def beside_the_package(folder: str) -> Path:
    """`workflow` or `config`: a wheel brings it as zlbench_{folder}, a checkout has it under its own name.

    Beside this package and never by import: those of another zlbench would be of another version.
    """
    installed = PACKAGE.parent / f"zlbench_{folder}"
    return installed if installed.is_dir() else PACKAGE.parent / folder


WORKFLOW = beside_the_package("workflow")
SNAKEFILE = WORKFLOW / "Snakefile"
SCHEMAS = PACKAGE / "campaign" / "schemas"
DEFAULT_CONFIG = beside_the_package("config") / "config.yaml"
