"""A campaign file that YAML or the file system has something against, and what YAML would pass over in silence."""

from __future__ import annotations

import pytest

from zlbench_core.campaign.yaml_file import check_repeated_keys, read_campaign_file
from zlbench_core.commands.cli import main
from zlbench_core.errors import ConfigError


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (
            b"ops: [mm]\n\trounds: 3\n",
            "{path} is not YAML: line 2, column 1: while scanning for the next token, found character",
        ),
        (b"ops: *x\n", "is not YAML: line 1, column 6: found undefined alias"),
        (b"ops: [mm]\n---\nops: [mm]\n", "is not YAML: line 2, column 1: expected a single document"),
        (b"ops: [mm] # caf\xe9\n", "is not UTF-8 text: line 1, byte 15 of the file is no character"),
        (b"ops: " + b"[" * 3000 + b"]" * 3000, "is nested too deeply"),
        (b"ops: [mm\n", "is not YAML: line 2, column 1: while parsing a flow sequence, expected"),
        (b"until: 2026-13-45\n", "is not YAML: month must be in 1..12"),
        (b"ops: \x07\n", "is not YAML: "),
        (b"", "is not a mapping of keys"),
        (b"- mm\n", "is not a mapping of keys"),
        (b"ops: [mm]\nrounds: 3\nrounds: 4\n", "key rounds stands twice in {path}, in lines 2 and 3"),
        (
            b"sides:\n  b: {env: {X: '1'}}\n  'b':\n    env: {Y: '1'}\n",
            "key b stands twice in {path}, in lines 2 and 3",
        ),
        (b"ops: [&x {a: 1, a: 2}, *x]\n", "key a stands twice"),
    ],
)
def test_a_file_that_is_no_campaign_is_refused_in_one_line(tmp_path, capsys, content, told):
    path = tmp_path / "campaign.yaml"
    path.write_bytes(content)
    assert main(["preflight", "--configfile", str(path)]) == 1
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("zlbench: ")
    assert told.format(path=path) in line
    assert len(line) < 700


@pytest.mark.parametrize(
    ("name", "told"),
    [("gone", "no campaign file: .*gone does not exist"), ("", "Is a directory"), ("k" * 300, "too long")],
)
def test_a_file_that_cannot_be_read_says_why(tmp_path, name, told):
    with pytest.raises(ConfigError, match=told):
        read_campaign_file(tmp_path / name)


@pytest.mark.parametrize(
    "content",
    [
        "a: {x: 1}\nb: {x: 1}\n",
        "a: &a {x: 1}\nb: &b {x: 2}\nc: {<<: *a, <<: *b, x: 3}\n",
        "a: &a\n  b: *a\n",
        "ops: [mm\n",
        "",
    ],
)
def test_a_key_that_stands_once_in_each_mapping_and_a_file_that_is_no_yaml_are_let_pass(tmp_path, content):
    path = tmp_path / "campaign.yaml"
    path.write_text(content)
    check_repeated_keys(path)
