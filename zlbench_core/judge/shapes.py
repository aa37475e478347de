"""shapes.yaml: the shapes that a run walked, for the eyes; what compares them reads the rows themselves."""

from __future__ import annotations

from pathlib import Path

import yaml

from zlbench_core.common.files import write_text
from zlbench_core.records.identity import load_identity
from zlbench_core.results.reader import read_run


def write_shapes(run_dir: Path) -> None:
    """Write the walked shapes by data type, and the level that was asked for, into a finished run's folder.

    Raises IdentityError where the run has no readable identity.
    """
    identity = load_identity(run_dir)
    walked: dict[str, list[str]] = {}
    for row in read_run(run_dir, identity=identity).rows:
        walked.setdefault(row.dtype, []).append(row.size)
    shapes = {
        "level": identity.get("bench_level"),
        "shape_mode": identity.get("shape_mode"),
        "effective": walked,
    }
    write_text(run_dir / "shapes.yaml", yaml.safe_dump(shapes, sort_keys=True))
