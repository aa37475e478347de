"""Run by a side's own interpreter, as a file: prints one JSON line with the versions that it would use.

It must not import zlbench_core at the top: an interpreter that cannot is one of the things to find out.
"""

from __future__ import annotations

import importlib
import json
import platform
import sys


def module_version(name: str) -> str | None:
    try:
        module = importlib.import_module(name)
    except ImportError:
        return None
    return str(getattr(module, "__version__", "unversioned"))


def import_error(name: str) -> str | None:
    try:
        importlib.import_module(name)
    except Exception as error:  # whatever an import raises is the finding, to be reported in one line
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return None


def visible_devices(kind: str) -> int | None:
    """How many devices torch sees; None where torch has no such device type."""
    torch = importlib.import_module("torch")
    interface = getattr(torch, kind, None)
    return None if interface is None or kind == "cpu" else int(interface.device_count())


def main(plugins: list[str], device_kind: str) -> None:
    versions = {name: module_version(name) for name in ("torch", "triton", "pytest", "yaml")}
    facts = {
        "python": platform.python_version(),
        "versions": versions,
        "plugin_errors": {name: error for name in plugins if (error := import_error(name))},
        "visible_devices": visible_devices(device_kind) if versions["torch"] else None,
    }
    print("ZLBENCH_PROBE " + json.dumps(facts))


if __name__ == "__main__":
    main(sys.argv[2:], sys.argv[1])
