"""The README's picture is what benchmarks/verdict_picture.py makes of a finished default campaign."""

from __future__ import annotations

import html
import importlib.util
import re
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

from tests import ROOT

PICTURE = ROOT / "docs" / "verdicts.svg"
REQUIRED = ("FASTER", "SAME", "NO CODE CHANGE", "silu", "mm", "layer_norm", "cpu-interpreter/cuda:90")


@pytest.fixture(scope="module")
def pictures() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "verdict_picture", ROOT / "benchmarks" / "verdict_picture.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("default")
    with tarfile.open(ROOT / "tests" / "data" / "report" / "default.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    return folder


def texts(svg: str) -> str:
    """What is written in a picture, line by line: its frame and colours may differ from one rich to the next."""
    lines: dict[float, str] = {}
    for y, text in re.findall(
        r'<text class="zlbench-r\d+" x="[^"]*" y="([^"]*)"[^>]*>(.*?)</text>', svg, re.DOTALL
    ):
        lines[float(y)] = lines.get(float(y), "") + html.unescape(text).replace("\N{NO-BREAK SPACE}", " ")
    return "\n".join(line.strip("\n").rstrip() for _, line in sorted(lines.items()))


def test_the_picture_of_the_readme_is_made_from_a_finished_default_campaign(pictures, finished):
    made = pictures.picture(finished, "zlbench show")
    assert texts(made) == texts(PICTURE.read_text(encoding="utf-8"))
    assert [word for word in REQUIRED if word not in texts(made)] == []


def test_the_same_results_make_the_same_picture_which_loads_nothing(pictures, finished):
    made = pictures.picture(finished, "zlbench show")
    assert made == pictures.picture(finished, "zlbench show")
    assert "url(" not in made.replace("url(#", "")


def test_a_picture_names_no_folder_of_the_machine(pictures, finished):
    assert str(finished) not in pictures.picture(finished, "zlbench show")
