from __future__ import annotations

import subprocess
import sys

import pytest

from zlbench_core.backends import (
    ALL_VISIBILITY_KEYS,
    UnknownBackendError,
    apply_visibility,
    get_backend,
    known_backends,
    normalize_backend_name,
)


@pytest.mark.parametrize(
    ("name", "backend"),
    [
        (None, "cuda"),
        ("", "cuda"),
        ("nvidia", "cuda"),
        ("NV", "cuda"),
        (" cuda ", "cuda"),
        ("mthreads", "musa"),
        ("mt", "musa"),
        ("amd", "rocm"),
        ("hip", "rocm"),
        ("npu", "ascend"),
        ("Huawei", "ascend"),
        ("host", "cpu"),
        ("interpreter", "cpu"),
    ],
)
def test_names_and_aliases_mean_one_backend(name: str | None, backend: str) -> None:
    assert normalize_backend_name(name) == backend
    assert get_backend(name).name == backend


def test_an_unknown_name_is_refused_and_the_known_ones_are_named() -> None:
    with pytest.raises(UnknownBackendError, match=r"'tpu'.*cuda, musa, rocm, ascend, cpu"):
        get_backend("tpu")


@pytest.mark.parametrize("name", known_backends())
def test_visibility_keeps_only_the_own_variables(name: str) -> None:
    backend = get_backend(name)
    before = {"PATH": "/bin", **dict.fromkeys(ALL_VISIBILITY_KEYS, "7")}
    after = apply_visibility(backend, before, 3)
    assert after == {"PATH": "/bin", **dict.fromkeys(backend.visibility_keys, "3")}
    assert before["CUDA_VISIBLE_DEVICES"] == "7"


def test_no_two_backends_share_a_visibility_variable() -> None:
    assert len({*ALL_VISIBILITY_KEYS}) == len(ALL_VISIBILITY_KEYS)
    assert {"CUDA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES"} < {*ALL_VISIBILITY_KEYS}


@pytest.mark.parametrize(
    ("name", "graph", "cluster", "vendor", "deny"),
    [
        ("cuda", True, True, "nvidia", set()),
        ("musa", True, False, "mthreads", {"unique2"}),
        ("rocm", False, False, "amd", set()),
        ("ascend", False, False, "ascend", set()),
        ("cpu", False, False, None, set()),
    ],
)
def test_capabilities(name: str, graph: bool, cluster: bool, vendor: str | None, deny: set[str]) -> None:
    backend = get_backend(name)
    assert backend.supports_cuda_graph is graph
    assert backend.supports_mm_cluster_fix is cluster
    assert backend.gems_vendor == vendor
    assert backend.capture_deny_ops == deny
    assert backend.denies_capture("unique2") is bool(deny)


def test_only_musa_asks_for_a_compatibility_plugin() -> None:
    asking = {name: get_backend(name).compat_plugins for name in known_backends()}
    assert asking.pop("musa") == ("musa_benchmark_compat",)
    assert set(asking.values()) == {()}


def test_the_cpu_backend_has_logical_devices() -> None:
    devices = get_backend("cpu").enumerate_devices()
    assert len(devices) >= 4
    assert [d.uuid for d in devices[:2]] == ["cpu-0", "cpu-1"]
    assert {d.name for d in devices} == {"cpu-interpreter"}


def test_the_backends_load_without_torch_and_triton() -> None:
    code = "import sys, zlbench_core.backends; sys.exit(sum(m in sys.modules for m in ('torch', 'triton')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_a_backend_that_may_capture_names_its_graph_class():
    capturing = [backend for backend in map(get_backend, known_backends()) if backend.supports_cuda_graph]
    assert {backend.name: backend.graph_class for backend in capturing} == {
        "cuda": "CUDAGraph",
        "musa": "MUSAGraph",
    }
