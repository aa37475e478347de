"""Every verdict word, and all that is said about it. Whoever shows, sorts or counts words asks this table.

A new word is a member, an entry, the rule that gives it, its sentences (report/explain.py) and its line in
docs/verdicts.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from zlbench_core.errors import CaliberMismatch


class Verdict(StrEnum):
    FASTER = "FASTER"
    SLOWER = "SLOWER"
    SAME = "SAME"
    UNDECIDED = "UNDECIDED"
    NO_CODE_CHANGE = "NO CODE CHANGE"
    REFUSED = "REFUSED"
    VOID = "VOID"


@dataclass(frozen=True)
class Word:
    """What a verdict word says, and how it is shown.

    meaning      one or two sentences, for somebody who was not there
    colour       of the report's palette: faster, slower, same, undecided
    loudness     where words are sorted, the loudest stands first
    claims       it says that the sides differ
    silent       it carries no number, whatever was measured; what is not silent is judged, and in the family
    exit_status  of the job require_accepted; 0 where the word is an answer
    """

    meaning: str
    colour: str
    loudness: int
    claims: bool = False
    silent: bool = False
    exit_status: int = 0


WORDS: Mapping[str, Word] = {
    Verdict.FASTER: Word(
        "B is faster than A, by more than the margin.",
        colour="faster",
        loudness=3,
        claims=True,
    ),
    Verdict.SLOWER: Word(
        "B is slower than A, by more than the margin.",
        colour="slower",
        loudness=4,
        claims=True,
    ),
    Verdict.SAME: Word(
        "Whatever the difference is, it is smaller than the margin.",
        colour="same",
        loudness=1,
    ),
    Verdict.UNDECIDED: Word(
        "The rounds do not tell. This is the lack of a finding; it is not SAME.",
        colour="undecided",
        loudness=2,
    ),
    Verdict.NO_CODE_CHANGE: Word(
        "Both sides compiled to the same code, so there is nothing to time.",
        colour="undecided",
        loudness=0,
        silent=True,
    ),
    Verdict.REFUSED: Word(
        "The two sides were not measured alike, or not measured at all; no number is shown.",
        colour="slower",
        loudness=5,
        silent=True,
        exit_status=CaliberMismatch.exit_code,
    ),
    Verdict.VOID: Word(
        "Identical code was found to differ too often; nothing of this campaign may be quoted.",
        colour="slower",
        loudness=6,
        silent=True,
        exit_status=CaliberMismatch.exit_code,
    ),
}

CLAIMS = tuple(verdict for verdict in Verdict if WORDS[verdict].claims)
JUDGED = tuple(verdict for verdict in Verdict if not WORDS[verdict].silent)
