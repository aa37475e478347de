"""The caliber of a run that nothing is odd about."""

CALIBER = {
    "backend": "cuda",
    "device": "NVIDIA H200",
    "timer": "cuda_graph",
    "bench_level": "core",
    "shape_mode": "upstream",
    "tuner_cache": "isolated",
    "direct_repeat": 1,
    "autotune_mode": "replay",
}
