"""pandas costs 0.3 s: it is there where a table is written, and nowhere else."""

from __future__ import annotations

import subprocess
import sys

import pytest

from zlbench_core.common.places import PACKAGE

ROOT = PACKAGE.parent
PLUGINS = sorted(
    f"zlbench_core.plugins.{path.stem}"
    for path in (PACKAGE / "plugins").glob("*.py")
    if path.stem != "__init__"
)


def loads_pandas(code: str) -> bool:
    told = "import sys\n" + code + "\nprint('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.splitlines()[-1] == "True"


def imports_of_the_rules() -> str:
    files = [ROOT / "workflow" / "Snakefile", *(ROOT / "workflow" / "rules").glob("*.smk")]
    lines = [line for path in files for line in path.read_text().splitlines()]
    return "\n".join(line for line in lines if line.startswith(("import ", "from ")))


def test_a_parsed_workflow_has_no_pandas():
    assert "zlbench_core.judge.show" in imports_of_the_rules()
    assert not loads_pandas(imports_of_the_rules())


@pytest.mark.parametrize("args", [["--help"], ["devices", "--help"], ["show", "--help"]])
def test_help_has_no_pandas(args):
    assert not loads_pandas(
        f"from zlbench_core.commands.cli import main\ntry:\n    main({args!r})\nexcept SystemExit:\n    pass"
    )


def test_a_benchmark_process_has_no_pandas():
    assert "zlbench_core.plugins.timing" in PLUGINS
    assert not loads_pandas(
        "\n".join(f"import {name}" for name in PLUGINS) + "\nimport zlbench_core.duet.session"
    )


def test_the_readers_and_the_columns_have_no_pandas():
    assert not loads_pandas(
        "import zlbench_core.results, zlbench_core.results.tables, zlbench_core.results.store"
    )


def test_a_table_that_is_written_has_pandas():
    assert loads_pandas("import zlbench_core.results.frames")
