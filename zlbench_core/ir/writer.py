"""Writes the IR archive while a benchmark process runs; called from whichever thread compiles."""

from __future__ import annotations

import re
import shutil
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from zlbench_core.common.files import sha256_of, write_json
from zlbench_core.errors import ArchiveError
from zlbench_core.ir import normalise
from zlbench_core.ir.archive import FOLDER, INDEX, SCHEMA_VERSION, VARIANT, in_order
from zlbench_core.ir.fingerprint import VariantFacts, normalised_digest, raw_digest

_UNSAFE = re.compile(r"[^\w.-]")
_STAGE = re.compile(r"\w[\w.-]*")


class ArchiveWriter:
    """An archive in the making. What an earlier run left in its place is removed at once."""

    def __init__(self, run_dir: Path | str) -> None:
        self.root = Path(run_dir) / FOLDER
        if self.root.exists():
            shutil.rmtree(self.root)
        self.root.mkdir(parents=True)
        self._lock = threading.Lock()
        self._contents: dict[tuple[str, str], list[str]] = {}
        self._written: dict[str, dict[str, Any]] = {}
        self._failures: list[str] = []

    def add(self, facts: VariantFacts, stages: Mapping[str, bytes], pipeline: Sequence[str]) -> None:
        """Archive a variant. `pipeline` names the stages that its compiler has; empty where that is unknown.

        The same content is stored once. A folder appears under its name when it is whole.
        """
        path = self._claim(facts, raw_digest("".join(map(raw_digest, stages.values())).encode()))
        if path is None:
            return
        document = _document(facts, stages, pipeline)
        temporary = Path(tempfile.mkdtemp(prefix=".variant-", dir=self.root))
        for stage, data in stages.items():
            (temporary / stage).write_bytes(data)
        write_json(temporary / VARIANT, document)
        temporary.chmod(0o755)
        (self.root / path).parent.mkdir(exist_ok=True)
        temporary.rename(self.root / path)
        with self._lock:
            self._written[path] = document

    def fail(self, reason: str) -> None:
        """Something that ran may be missing here, so the archive must not be taken for complete."""
        with self._lock:
            self._failures.append(reason)

    def finish(self) -> dict[str, Any]:
        """Write the index and return it."""
        with self._lock:
            index = _index(self.root, self._written, self._failures)
        write_json(self.root / INDEX, index)
        return index

    def stages(self) -> list[str]:
        """Every stage of which something was captured, first to last."""
        with self._lock:
            lists = [[stage["name"] for stage in document["stages"]] for document in self._written.values()]
        return in_order(lists)

    def _claim(self, facts: VariantFacts, content: str) -> str | None:
        """A folder, relative to the archive, for content that is new; None for content that is there."""
        with self._lock:
            known = self._contents.setdefault((facts.kernel, facts.variant_id), [])
            if content in known:
                return None
            known.append(content)
            repeat = f".{len(known) - 1}" if len(known) > 1 else ""
            return f"{_UNSAFE.sub('_', facts.kernel)[:100]}/{facts.variant_id}{repeat}"


def _document(facts: VariantFacts, stages: Mapping[str, bytes], pipeline: Sequence[str]) -> dict[str, Any]:
    for stage in stages:
        if not _STAGE.fullmatch(stage) or stage == VARIANT:
            raise ArchiveError(f"stage {stage!r} of kernel {facts.kernel} cannot be a file's name")
    return {
        "schema_version": SCHEMA_VERSION,
        "normaliser": normalise.VERSION,
        "kernel": facts.kernel,
        "variant": facts.variant_id,
        "signature": [f"{facts.name(position)}: {kind}" for position, kind in facts.signature.items()],
        "constexprs": {facts.name(position): value for position, value in facts.constexprs.items()},
        "attributes": {facts.name(position): value for position, value in facts.attributes.items()},
        **facts.launch,
        "shared": facts.shared,
        "target": facts.target,
        "options": facts.options,
        "stages": [_stage(stage, stages[stage]) for stage in _ordered(stages, pipeline)],
        "stages_missing": _missing(stages, pipeline),
    }


def _index(root: Path, written: Mapping[str, Mapping[str, Any]], failures: Sequence[str]) -> dict[str, Any]:
    index = {
        "schema_version": SCHEMA_VERSION,
        "status": "failed" if failures else "complete",
        "variants": [
            {"kernel": document["kernel"], "variant": document["variant"], "path": path}
            for path, document in sorted(written.items())
        ],
        "digests": {f"{path}/{VARIANT}": sha256_of(root / path / VARIANT) for path in sorted(written)},
    }
    return {**index, "reason": "; ".join(dict.fromkeys(failures))} if failures else index


def _stage(name: str, data: bytes) -> dict[str, Any]:
    return {
        "name": name,
        "bytes": len(data),
        "raw": raw_digest(data),
        "normalised": normalised_digest(name, data),
    }


def _ordered(stages: Mapping[str, bytes], pipeline: Sequence[str]) -> list[str]:
    return sorted(stages, key=lambda stage: pipeline.index(stage) if stage in pipeline else len(pipeline))


def _missing(stages: Mapping[str, bytes], pipeline: Sequence[str]) -> list[str]:
    """Where the pipeline is unknown, a lone stage is the binary alone: compilers have a text before it."""
    if not pipeline:
        return ["every stage but one"] if len(stages) == 1 else []
    return [stage for stage in pipeline if stage not in stages]
