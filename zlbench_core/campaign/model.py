"""A campaign, and what each of its steps is planned from: so many of its parts, and no field beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar, get_type_hints

from zlbench_core.campaign.parts import (
    Devices,
    Judgement,
    Machine,
    Platform,
    RowTiming,
    Subject,
    Timing,
    Tuning,
)
from zlbench_core.errors import ConfigError

AskedT = TypeVar("AskedT", bound="Asked")


@dataclass(frozen=True)
class Asked:
    """Some parts of a campaign. As JSON the keys of all of them, side by side."""

    def to_json(self) -> dict[str, Any]:
        """As it may be written: values that look like secrets are digests (sealing.py)."""
        parts = (getattr(self, field.name).to_json() for field in fields(self))
        return {name: value for part in parts for name, value in part.items()}

    @classmethod
    def from_json(cls: type[AskedT], value: Mapping[str, Any]) -> AskedT:
        """The inverse of to_json, for the scripts of the workflow.

        Raises ConfigError where a secret is missing; KeyError or ValueError where a key is missing or is too many.
        """
        hints = get_type_hints(cls)
        found = cls(**{field.name: hints[field.name].from_json(value) for field in fields(cls)})
        if unknown := value.keys() - found.to_json().keys():
            raise ValueError(f"{cls.__name__} has no {min(unknown)}")
        return found


@dataclass(frozen=True)
class CheckAsked(Asked):
    """What the preflight of one side is planned from: no operator, since another list of those checks nothing new."""

    platform: Platform
    machine: Devices


@dataclass(frozen=True)
class RecordAsked(Asked):
    """What a record of one operator is planned from: the recording side alone, and what one process does."""

    subject: Subject
    tuning: Tuning
    timing: RowTiming


@dataclass(frozen=True)
class RoundAsked(RecordAsked):
    """What a round of one operator is planned from: both sides, since it is a pair that is measured side by side."""

    timing: Timing

    def round_of(self, op: str) -> RoundAsked:
        return RoundAsked(self.subject.of([op]), self.tuning, self.timing)


@dataclass(frozen=True)
class LookAsked(RoundAsked):
    """What the first of two looks is planned from: the rounds of one device's operators, and how they are judged."""

    judgement: Judgement


@dataclass(frozen=True)
class Campaign(LookAsked):
    """A validated campaign, which is what its summary is planned from."""

    machine: Machine

    def check_of(self, side: str) -> CheckAsked:
        platform = replace(self.subject.only(Platform), sides=(self.subject.side(side),))
        return CheckAsked(platform, self.machine.only(Devices))

    def record_of(self, op: str) -> RecordAsked:
        """Raises ConfigError where this campaign records nothing."""
        recording = self.tuning.recording
        if recording is None:
            raise ConfigError(
                f"this campaign records no pins of {op}: autotune.mode is off, autotune.from names a folder of pins, "
                "or measure is false"
            )
        return RecordAsked(
            self.subject.of([op], [recording.record_side]), self.tuning, self.timing.only(RowTiming)
        )

    def look_of(self, ops: Sequence[str]) -> LookAsked:
        return LookAsked(self.subject.of(ops), self.tuning, self.timing, self.judgement.of(ops))
