"""The device backends, by name: config `backend` chooses, or ZL_BACKEND for a bare pytest run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from zlbench_core.backends.ascend import AscendBackend
from zlbench_core.backends.backend import DeviceBackend
from zlbench_core.backends.cpu import CpuBackend
from zlbench_core.backends.cuda import CudaBackend
from zlbench_core.backends.musa import MusaBackend
from zlbench_core.backends.rocm import RocmBackend
from zlbench_core.errors import UnknownBackendError

__all__ = [
    "ALL_VISIBILITY_KEYS",
    "UnknownBackendError",
    "apply_visibility",
    "get_backend",
    "graph_class",
    "known_backends",
    "normalize_backend_name",
]

_BACKENDS: dict[str, DeviceBackend] = {
    backend.name: backend
    for backend in (CudaBackend(), MusaBackend(), RocmBackend(), AscendBackend(), CpuBackend())
}
ALL_VISIBILITY_KEYS = tuple(key for backend in _BACKENDS.values() for key in backend.visibility_keys)
_GRAPHS = tuple(backend.graph_class for backend in _BACKENDS.values() if backend.graph_class is not None)
_NAMES = {alias: name for name, backend in _BACKENDS.items() for alias in (name, *backend.aliases)}


def known_backends() -> tuple[str, ...]:
    return tuple(_BACKENDS)


def normalize_backend_name(name: str | None) -> str:
    """The backend that `name` means, in any case; nothing at all means cuda. Raises UnknownBackendError."""
    asked = (name or "").strip().lower()
    if asked not in _NAMES:
        raise UnknownBackendError(f"unknown backend {name!r}: known are {', '.join(known_backends())}")
    return _NAMES[asked]


def get_backend(name: str | None) -> DeviceBackend:
    """The backend that `name` (or an alias) means. Raises UnknownBackendError."""
    return _BACKENDS[normalize_backend_name(name)]


def apply_visibility(backend: DeviceBackend, env: Mapping[str, str], device: str | int) -> dict[str, str]:
    """A new environment in which only `device` is visible, in the form that `visibility_value` gives; other
    backends' variables are dropped."""
    kept = {key: value for key, value in env.items() if key not in ALL_VISIBILITY_KEYS}
    return kept | dict.fromkeys(backend.visibility_keys, str(device))


def graph_class(interface: ModuleType | Any) -> Callable[[], Any] | None:
    """The graph class of torch's device interface, by the names that the backends give it; None: it has none."""
    return next((found for name in _GRAPHS if (found := getattr(interface, name, None))), None)
