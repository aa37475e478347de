"""The environment variables by which compilers, runtimes and operator libraries are switched."""

from __future__ import annotations

# Variables that change what is compiled or how it runs. ZL_* are the harness's own and not among them.
PREFIXES = (
    "AMDGCN_",
    "ASCEND_LAUNCH_BLOCKING",
    "CUBLAS_",
    "CUDA_LAUNCH_BLOCKING",
    "CUDNN_",
    "DISABLE_LLVM_OPT",
    "DISABLE_PTXAS_OPT",
    "FLAGGEMS_",
    "FLAGTREE_",
    "FLAGTUNE_",
    "GEMS_VENDOR",
    "HSA_",
    "LLVM_",
    "MLIR_",
    "MTHREADS_",
    "MUSA_LAUNCH_BLOCKING",
    "NVIDIA_TF32_OVERRIDE",
    "PTXAS_OPTIONS",
    "PYTORCH_",
    "TORCH_",
    "TRITON_",
    "USE_FLAGTUNE",
)

# Where caches and dumps lie, and the label of the running operator: they differ from run to run by design.
LOCATIONS = frozenset(
    (
        "FLAGGEMS_CACHE_DIR",
        "FLAGGEMS_DB_URL",
        "FLAGGEMS_PERF_CURRENT_OP",
        "TRITON_CACHE_DIR",
        "TRITON_DUMP_DIR",
        "TRITON_HOME",
        "TRITON_OVERRIDE_DIR",
    )
)
