"""A campaign file as YAML, for those who are not Snakemake, and what YAML lets pass that nobody can mean."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from zlbench_core.common.files import read_content
from zlbench_core.common.text import printable, shortened
from zlbench_core.errors import ConfigError

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # 300 operators' shapes: seconds without libyaml


def read_campaign_file(path: Path) -> dict[str, Any]:
    """The mapping in `path`. Raises ConfigError, one line, for anything else."""
    try:
        config = yaml.safe_load(_text(path))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"campaign file {path} is not YAML: {yaml_mistake(error)}") from None
    if not isinstance(config, dict):
        raise ConfigError(f"campaign file {path} is not a mapping of keys")
    check_repeated_keys(path)
    return config


def _text(path: Path) -> str:
    content = read_content(path, ConfigError, what="campaign file")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ConfigError(
            f"campaign file {path} is not UTF-8 text: line {line}, byte {error.start} of the file is no character"
        ) from None


def yaml_mistake(error: Exception) -> str:
    """Where a YAML text is wrong, and what is wrong with it: `line 2, column 1: found undefined alias 'x'`."""
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    mark = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
    told = [getattr(error, "context", None), getattr(error, "problem", None)]
    return shortened(printable(where + (", ".join(filter(None, told)) or " ".join(str(error).split()))), 400)


def check_repeated_keys(path: Path | str) -> None:
    """Raises ConfigError for a key that stands twice in one mapping, of which YAML keeps the last without a word.

    A file that is no YAML is for those to tell who read it.
    """
    try:
        root = yaml.compose(Path(path).read_text(encoding="utf-8"), LOADER)
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return
    for name, first, again in _repeated(root):
        raise ConfigError(
            f"key {shortened(printable(name), 80)} stands twice in {path}, in lines {first} and {again}"
        )


def _repeated(root: yaml.Node | None) -> Iterator[tuple[str, int, int]]:
    """Name and both lines of each repeated key. Without recursion, and each node once: aliases may make a ring."""
    ahead, seen = [root], set()
    while ahead:
        node = ahead.pop()
        if node is None or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.MappingNode):
            lines: dict[str, int] = {}
            for key, value in node.value:
                ahead.append(value)
                if isinstance(key, yaml.ScalarNode) and key.tag != "tag:yaml.org,2002:merge":
                    line = key.start_mark.line + 1
                    if key.value in lines:
                        yield key.value, lines[key.value], line
                    lines.setdefault(key.value, line)
        elif isinstance(node, yaml.SequenceNode):
            ahead += node.value
