"""What capture does in the process that compiles; each test is a program of its own."""

from __future__ import annotations

from pathlib import Path

from tests.unit.ir.ir_helpers import HERE, clean_env, run_python
from zlbench_core.ir.archive import read_archive
from zlbench_core.judge.ir.compare import compare_archives

PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, {here!r})
import triton
from triton import knobs
from tests.unit.ir.compile_kernels import TARGETS, load_kernels, sources
from zlbench_core.ir import capture
from zlbench_core.ir.writer import ArchiveWriter
out = Path({out!r})
source = sources(load_kernels(Path({here!r}) / "kernels.py"))[1]
def compile(target="cuda"):
    return triton.compile(source, target=TARGETS[target])
writer = ArchiveWriter(out)
"""


def run(tmp_path: Path, body: str) -> str:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(here=str(HERE), out=str(tmp_path)) + body)
    done = run_python(program, env=clean_env(TRITON_CACHE_DIR=str(tmp_path / "cache")))
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_triton_without_a_listener_is_wrapped_and_gives_the_same_archive(
    compiled: Path, tmp_path: Path
) -> None:
    body = """
class NoListener: ...
real, knobs.compilation = knobs.compilation, NoListener()
stop = capture.capture_into(writer)
knobs.compilation = real
import triton.compiler.compiler as inner
names = [triton, triton.compiler, inner]
assert len({id(module.compile) for module in names}) == 1 and inner.compile.__name__ == "compile_and_tell"
compile(); compile()  # the second is found in the cache
stop()
assert all(module.compile.__name__ == "compile" for module in names)
triton.compile(source, target=TARGETS["hip"])
writer.finish()
"""
    run(tmp_path, body)
    (variant,) = read_archive(tmp_path).variants
    twin = compare_archives([compiled / "base" / "cuda"], [tmp_path])
    assert twin.counts == {"compared": 1, "identical": 1, "different": 0, "only_in_a": 1, "only_in_b": 0}
    assert variant.missing == ()


def test_a_listener_that_was_there_is_still_called_and_put_back(tmp_path: Path) -> None:
    body = """
seen = []
def mine(**told): seen.append(sorted(told))
knobs.compilation.listener = mine
stop = capture.capture_into(writer)
compile()
stop()
assert knobs.compilation.listener is mine
print(seen == [["cache_hit", "metadata", "metadata_group", "src", "times"]], len(writer.finish()["variants"]))
"""
    assert run(tmp_path, body).split() == ["True", "1"]


def test_a_kernel_that_cannot_be_archived_fails_the_archive_and_not_the_benchmark(tmp_path: Path) -> None:
    body = """
def full(*args): raise OSError("disk full")
writer.add = full
capture.capture_into(writer)
print(len(compile().asm["ttgir"]) > 0, writer.finish()["reason"])
"""
    assert run(tmp_path, body).strip() == "True kernel scale: OSError: disk full"


def test_a_compiler_that_does_not_tell_its_stages_is_judged_by_what_was_captured(tmp_path: Path) -> None:
    body = """
import triton.compiler.compiler as inner
original = inner.make_backend
capture.capture_into(writer)
from unittest import mock
with mock.patch.object(capture, "pipeline_of", lambda *_: ()):
    compile()
backend = type("Odd", (), {"parse_options": lambda self, options: 1 / 0})
with mock.patch.object(inner, "make_backend", lambda target: backend()):
    print(capture.pipeline_of(source, {"target": TARGETS["cuda"]}))
writer.finish()
"""
    assert run(tmp_path, body).strip() == "()"
    (variant,) = read_archive(tmp_path).variants
    assert set(variant.stages) == {"ttir", "ttgir", "llir", "ptx", "cubin"}
    assert variant.missing == ()


def test_a_side_needs_no_package_but_its_own_to_be_archived() -> None:
    """`-S` hides site-packages: a device vendor's Python has torch and triton there and nothing of ours."""
    done = run_python("-S", "-c", "import zlbench_core.ir.capture, zlbench_core.ir.writer", env=clean_env())
    assert done.returncode == 0, done.stderr
