"""What no key of a campaign may hold, whichever it is: YAML takes it, and it would fail late or judge wrongly."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from zlbench_core.common.text import printable, shortened
from zlbench_core.errors import ConfigError

_DEEPEST = 8  # a campaign nests four deep; an alias inside its own anchor has no end


def check_values(config: Any, source: str) -> None:
    """Raises ConfigError, one line, for a key that is no text, a number that is not finite, a NUL character."""
    problem = next(_problems(config, "", source, 0), None)
    if problem is not None:
        raise ConfigError(problem)


def check_variable(name: str, where: str, source: str) -> None:
    """Raises ConfigError where `name` can be no environment variable's."""
    if not name or any(char in "=\0" or char.isspace() for char in name):
        raise ConfigError(
            f"{where} in {source} sets the variable {_told(name)}; a name without =, spaces and NUL is expected"
        )


def absolute(path: str) -> str:
    """`path` from the root on, ~ read as the user's home; links are kept."""
    return str(Path(path).expanduser().absolute())


def resolve_device_arg(devices: Any = None, device: Any = None) -> Any:
    """The devices that were asked for: `devices`, or its alias (`device`, `gpus`); None where neither is set.

    An empty text counts as not set, the index 0 as set. Raises ValueError where both are set.
    """
    given = [value for value in (devices, device) if value is not None and value != ""]
    if len(given) > 1:
        raise ValueError(
            f"devices={devices!r} and its alias device={device!r} are both set; give devices alone"
        )
    return given[0] if given else None


def _problems(value: Any, where: str, source: str, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        yield f"{shortened(where, 80)} in {source} is nested too deeply; has an anchor an alias inside it?"
    elif isinstance(value, dict):
        for key, sub in value.items():
            if not isinstance(key, str):
                yield (
                    f"{where or 'the campaign'} in {source} has the key {_told(key)}, which is no text; "
                    'numbers, dates, on, off, yes, no and null must be quoted, as in "1"'
                )
            yield from _problems(sub, f"{where}.{printable(str(key))}".removeprefix("."), source, depth + 1)
    elif isinstance(value, list):
        for place, sub in enumerate(value):
            yield from _problems(sub, f"{where}.{place}", source, depth + 1)
    elif isinstance(value, float) and not math.isfinite(value):
        yield f"{where} is {value} in {source}; a finite number is expected"
    elif isinstance(value, str) and "\0" in value:
        yield f"{where} is {_told(value)} in {source}; a text without NUL is expected"


def _told(value: Any) -> str:
    return shortened(printable(repr(value)), 80)
