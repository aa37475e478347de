"""Hooks into Triton so that every compiled kernel is seen: compiled now or found in the cache, in any thread.

Only benchmark processes load this module. Triton 3.4 and later have a compilation listener; before that its
`compile` is wrapped, in each module that gives it out.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from zlbench_core.ir.fingerprint import facts_of
from zlbench_core.ir.writer import ArchiveWriter

_NO_STAGES = {"json", "source"}  # the metadata, and the ttir before its first pass
_COMPILERS = ("triton", "triton.compiler", "triton.compiler.compiler")

Stages = dict[str, bytes]
Seen = Callable[[Any, Mapping[str, Any], Callable[[], Stages]], None]


def capture_into(writer: ArchiveWriter) -> Callable[[], None]:
    """Archive every kernel that Triton compiles from now on; returns what undoes it.

    A kernel that cannot be archived marks the archive as failed and leaves the benchmark alone.
    """

    def seen(source: Any, metadata: Mapping[str, Any], read_stages: Callable[[], Stages]) -> None:
        try:
            writer.add(facts_of(source, metadata), read_stages(), pipeline_of(source, metadata))
        except Exception as error:
            writer.fail(f"kernel {getattr(source, 'name', '?')}: {type(error).__name__}: {error}")

    return hook(seen)


def hook(seen: Seen) -> Callable[[], None]:
    """Call `seen(source, metadata, read_stages)` after each compilation; returns what undoes it."""
    import triton

    compilation = getattr(getattr(triton, "knobs", None), "compilation", None)
    return _listen(compilation, seen) if hasattr(compilation, "listener") else _wrap(seen)


def pipeline_of(source: Any, metadata: Mapping[str, Any]) -> Sequence[str]:
    """The stages that the compiler has for this kernel, first to last; empty where it does not tell."""
    from triton.compiler.compiler import make_backend

    try:
        backend = make_backend(metadata["target"])
        stages: dict[str, Any] = {}
        arguments = [stages, backend.parse_options(dict(metadata))]
        if "language" in inspect.signature(backend.add_stages).parameters:
            arguments.append(source.language)
        backend.add_stages(*arguments)
    except (
        Exception
    ):  # a vendor's backend may take other options: the writer then judges by what was captured
        return ()
    return list(stages)


def _listen(compilation: Any, seen: Seen) -> Callable[[], None]:
    previous = compilation.listener

    def listener(
        *, src: Any, metadata: Mapping[str, Any], metadata_group: Mapping[str, str], **rest: Any
    ) -> None:
        if previous:
            previous(src=src, metadata=metadata, metadata_group=metadata_group, **rest)
        seen(src, metadata, lambda: _stages_of_files(metadata_group))

    compilation.listener = listener
    return lambda: setattr(compilation, "listener", previous)


def _wrap(seen: Seen) -> Callable[[], None]:
    import triton.compiler.compiler

    original = triton.compiler.compiler.compile

    def compile_and_tell(*args: Any, **kwargs: Any) -> Any:
        kernel = original(*args, **kwargs)
        seen(kernel.src, kernel.metadata._asdict(), lambda: _stages_of_kernel(kernel.asm))
        return kernel

    modules: list[Any] = [
        sys.modules[name] for name in _COMPILERS if getattr(sys.modules[name], "compile", None) is original
    ]
    for module in modules:
        module.compile = compile_and_tell

    def undo() -> None:
        for module in modules:
            module.compile = original

    return undo


def _stages_of_files(metadata_group: Mapping[str, str]) -> Stages:
    """The stages among the files of a cache entry, which are named `<kernel>.<stage>`."""
    names = {name.rpartition(".")[2]: path for name, path in metadata_group.items()}
    return {stage: Path(path).read_bytes() for stage, path in names.items() if stage not in _NO_STAGES}


def _stages_of_kernel(asm: Mapping[str, str | bytes]) -> Stages:
    return {
        stage: content.encode() if isinstance(content, str) else content
        for stage, content in asm.items()
        if stage not in _NO_STAGES
    }
