"""The IR archive of a run: every stage of every kernel variant that it compiled.

    ir/index.json                         what there is; written last, so an archive without it is no archive
    ir/<kernel>/<variant>/variant.json    the variant and the digests of its stages
    ir/<kernel>/<variant>/<stage>         as the compiler left it: ttir, ttgir, llir, ..., the device binary

A variant that was compiled again with other content (by an option outside its identity, or by another kernel
of the same name) stands beside the first as `<variant>.1`, `<variant>.2`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from zlbench_core.common.files import parse_object, read_content, read_whole
from zlbench_core.errors import ArchiveError
from zlbench_core.ir import normalise
from zlbench_core.ir.fingerprint import LAUNCH_OPTIONS, normalised_digest, raw_digest

SCHEMA_VERSION = 1
FOLDER = "ir"
INDEX = "index.json"
VARIANT = "variant.json"
_NEEDED = ("normaliser", "options", "signature", "constexprs", "attributes", *LAUNCH_OPTIONS)


@dataclass(frozen=True)
class Variant:
    """One archived variant. `stages` are those captured, first to last; `missing` those that were not."""

    path: Path
    document: Mapping[str, Any] = field(repr=False)

    @property
    def kernel(self) -> str:
        return self.document["kernel"]

    @property
    def variant_id(self) -> str:
        return self.document["variant"]

    @property
    def stages(self) -> tuple[str, ...]:
        return tuple(stage["name"] for stage in self.document["stages"])

    @property
    def missing(self) -> tuple[str, ...]:
        return tuple(self.document["stages_missing"])

    @property
    def config(self) -> dict[str, Any]:
        """What a reader tells the variants of one kernel apart by."""
        launch = {name: self.document[name] for name in LAUNCH_OPTIONS if self.document[name] is not None}
        return {
            "signature": self.document["signature"],
            "constexprs": self.document["constexprs"],
            "attributes": self.document["attributes"],
            **launch,
        }

    def check(self) -> None:
        """Raises KeyError or TypeError where the document lacks what a comparison reads of it."""
        texts = [self.kernel, self.variant_id, *self.stages, *self.missing]
        texts += [stage["normalised"] for stage in self.document["stages"]]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError(f"{texts} holds more than texts")
        for name in _NEEDED:
            self.document[name]

    def read_stage(self, stage: str) -> bytes:
        """The stage as the compiler left it. Raises ArchiveError when it was changed since, or is gone."""
        try:
            data = read_whole(os.path.join(self.path, stage))  # a Path for each of many costs more
        except OSError as error:
            raise ArchiveError(f"unreadable stage {self.path / stage}: {error.strerror}") from None
        if raw_digest(data) != self.raw_digests[stage]:
            raise ArchiveError(f"stage {self.path / stage} was changed after it was archived")
        return data

    @cached_property
    def raw_digests(self) -> dict[str, str]:
        return {stage["name"]: stage["raw"] for stage in self.document["stages"]}

    @cached_property
    def content(self) -> str:
        """Equal for variants whose stages are equal."""
        return json.dumps(self.digests, sort_keys=True)

    @cached_property
    def digests(self) -> dict[str, str]:
        """The normalised digest of each stage, made anew where other rules made the stored one."""
        if self.document["normaliser"] == normalise.VERSION:
            return {stage["name"]: stage["normalised"] for stage in self.document["stages"]}
        return {stage: normalised_digest(stage, self.read_stage(stage)) for stage in self.stages}


@dataclass(frozen=True)
class Archive:
    path: Path
    digest: str  # sha256 of the index
    variants: tuple[Variant, ...]


def index_path(run_dir: Path | str) -> Path:
    """The index of an archive that is given as itself or as the run folder that holds it."""
    path = Path(run_dir)
    return path / INDEX if os.path.exists(os.path.join(path, INDEX)) else path / FOLDER / INDEX


def in_order(lists: Iterable[Sequence[str]]) -> list[str]:
    """The stages of several lists in one, each where it stands latest: a lone binary still comes last."""
    place: dict[str, int] = {}
    for stages in lists:
        for position, stage in enumerate(stages):
            place[stage] = max(place.get(stage, 0), position)
    return sorted(place, key=lambda stage: place[stage])


def read_archive(run_dir: Path | str) -> Archive:
    """Read an archive and check that it is whole: schema, status, and the digest of every file that it names.

    Raises ArchiveError when it is missing, unfinished, of another schema, or not what its digests say.
    """
    path = index_path(run_dir)
    index, digest = _load(path)
    if index.get("status") != "complete":
        raise ArchiveError(
            f"IR archive {path} is {index.get('status')!r}: {index.get('reason', 'no reason given')}"
        )
    try:
        return Archive(path.parent, digest, tuple(_variants(path.parent, index)))
    except (KeyError, TypeError, AttributeError) as error:
        raise ArchiveError(f"malformed IR archive {path}: {type(error).__name__}: {error}") from None


def read_variant(path: Path | str) -> Variant:
    """Read one variant's folder. Raises ArchiveError when there is none, or one of another schema."""
    return Variant(Path(path), _load(Path(path) / VARIANT)[0])


def _variants(root: Path, index: Mapping[str, Any]) -> Iterator[Variant]:
    for entry in index["variants"]:
        folder = root / entry["path"]
        path = os.path.join(folder, VARIANT)
        document, digest = _load(path)
        if digest != index["digests"].get(f"{entry['path']}/{VARIANT}"):
            raise ArchiveError(f"variant {path} was changed after it was archived")
        variant = Variant(folder, document)
        variant.check()
        for stage in variant.stages:
            variant.read_stage(stage)
        yield variant


def _load(path: Path | str) -> tuple[dict[str, Any], str]:
    """A document, and the sha256 of the content that it was read from."""
    content = read_content(path, ArchiveError, what="IR archive")
    document = parse_object(content, path, ArchiveError, what="IR archive", schema=SCHEMA_VERSION)
    return document, raw_digest(content)
