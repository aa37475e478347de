"""Where a run's rows go: stdout always, and a JSON file or a record log when asked for."""

from __future__ import annotations

import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zlbench_core.common.files import write_json
from zlbench_core.suite import config as suite_config
from zlbench_core.suite.report import Block

MAX_NAME = 200
_logger = logging.getLogger("zlbench_suite")
_logger.propagate = False


def add_block(block: Block) -> None:
    """Print a block and keep it for the JSON file."""
    print(block.as_text(), flush=True)
    entry = suite_config.current().results.setdefault(block.op_name, {})
    entry.setdefault("details", []).append(block.as_json())
    _logger.info(json.dumps(block.as_json()))


def announce_failure(op_name: str, dtype: str, message: str) -> None:
    """Print the failure event that readers of a log look for."""
    print(f"\nFAILED: Operator={op_name} dtype={dtype} err=<<<{message}>>>", flush=True)


def add_outcome(op: str, outcome: str, node: str, reason: str | None) -> None:
    """Keep what pytest says about a benchmark."""
    entry = suite_config.current().results.setdefault(op, {})
    entry.update(result=outcome, test_case=node, reason=reason)


def write_results(path: Path | str) -> None:
    write_json(path, suite_config.current().results)


def open_record_log(arguments: Sequence[str]) -> Path:
    """Write every block as a line "[INFO] {...}" to result_<arguments>.log in the current folder."""
    words = [a.replace(".py", "").replace("=", "_").replace("/", "_") for a in arguments]
    path = Path(f"result_{'_'.join(words)}".replace("_-", "-")[:MAX_NAME] + ".log")
    handler = logging.FileHandler(path, mode="w", encoding="utf-8")
    handler.setFormatter(logging.Formatter("[%(levelname)s] %(message)s"))
    _logger.addHandler(handler)
    _logger.setLevel(logging.INFO)
    return path


def close_record_log() -> None:
    for handler in list(_logger.handlers):
        _logger.removeHandler(handler)
        handler.close()


def reason_of(report: Any) -> str:
    """Why a test failed or was skipped, as pytest's report tells."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is not None:
        return crash.message
    return report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
