"""All that is said of a verdict word stands in one table, and nowhere else."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from zlbench_core.common.places import PACKAGE
from zlbench_core.errors import CaliberMismatch, ReadError
from zlbench_core.judge.show import _check_word
from zlbench_core.verdicts.words import CLAIMS, JUDGED, WORDS, Verdict

HOME = PACKAGE / "verdicts" / "words.py"
PAGE = PACKAGE.parent / "docs" / "verdicts.md"
COLOURS = PACKAGE / "report" / "template" / "report.css"
IN_TEXT = re.compile(
    r"\b(?:FASTER|SLOWER|UNDECIDED|NO CODE CHANGE|REFUSED|VOID)\b"
)  # SAME is a word of English


def words_listed(source: str) -> Iterator[tuple[int, set[str]]]:
    """The lines with a list, a mapping or the like of two verdict words or more."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Tuple | ast.List | ast.Set):
            found = set(filter(None, map(word_of, node.elts)))
        elif isinstance(node, ast.Dict):
            found = set(filter(None, map(word_of, node.keys)))
        else:
            continue
        if len(found) > 1:
            yield node.lineno, found


def word_of(node: ast.expr | None) -> str | None:
    if isinstance(node, ast.Constant) and node.value in WORDS:
        return str(node.value)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Verdict":
        return node.attr
    return None


def test_every_word_has_every_entry():
    assert list(WORDS) == list(Verdict)
    assert sorted(word.loudness for word in WORDS.values()) == list(range(len(WORDS)))
    for word in WORDS.values():
        assert word.meaning.endswith(".")
        assert f"--{word.colour}:" in COLOURS.read_text()
        assert word.exit_status in (0, CaliberMismatch.exit_code)


def test_a_silent_word_claims_nothing_and_only_a_silent_one_ends_with_an_error():
    assert set(CLAIMS) < set(JUDGED)
    assert not any(word.exit_status for word in WORDS.values() if not word.silent)


def test_no_other_module_lists_verdict_words():
    listed = {
        f"{path.relative_to(PACKAGE)}:{line}: {sorted(found)}"
        for path in PACKAGE.rglob("*.py")
        if path != HOME
        for line, found in words_listed(path.read_text())
    }
    assert listed == set()


def test_no_template_and_no_schema_lists_verdict_words():
    files = [path for path in PACKAGE.rglob("*") if path.suffix in (".yaml", ".css", ".j2", ".js")]
    listed = [
        path.name
        for path in files
        for line in path.read_text().splitlines()
        if len({*IN_TEXT.findall(line)}) > 1
    ]
    assert files
    assert listed == []


@pytest.mark.parametrize(
    "source",
    ['X = ("FASTER", "SLOWER")', "f(x in [Verdict.SAME, Verdict.VOID])", '{"VOID": 1, Verdict.SAME: 2}'],
)
def test_the_rule_sees_lists_of_every_form(source):
    assert [line for line, _ in words_listed(source)] == [1]


def test_one_word_may_be_named_anywhere():
    assert list(words_listed('x == "FASTER" or y is Verdict.VOID, [Verdict.SAME]')) == []


def test_the_page_says_of_each_word_what_the_table_says():
    table = PAGE.read_text().partition("\n## ")[0]  # the why further down has rows of these names too
    said = dict(re.findall(r"^\| ([A-Z ]+) \| (.*?) \|", table, re.MULTILINE))
    assert {verdict: text.lower() for verdict, text in said.items()} == {
        verdict: word.meaning.rstrip(".").lower() for verdict, word in WORDS.items()
    }


def test_a_silent_word_with_a_number_and_an_unknown_word_are_refused():
    path = Path("verdicts.json")
    _check_word({"op": "mm", "verdict": "SAME", "evidence": {}}, path)
    _check_word({"op": "mm", "verdict": "VOID", "evidence": None}, path)
    with pytest.raises(ReadError, match=r"mm: REFUSED has evidence in verdicts\.json; it carries no number"):
        _check_word({"op": "mm", "verdict": "REFUSED", "evidence": {}}, path)
    with pytest.raises(
        ReadError, match=r"mm: verdict is 'BETTER' in verdicts\.json; allowed are FASTER, SLOWER"
    ):
        _check_word({"op": "mm", "verdict": "BETTER", "evidence": None}, path)
