"""The environment variables by which compilers, runtimes and operator libraries are switched."""

from __future__ import annotations

# Variables that change what is compiled or how it runs. ZL_* are the harness's own and not among them.
PREFIXES = (
    "AMDGCN_",
    "ASCEND_LAUNCH_BLOCKING",
    "ALLOW_LHS_TMEM_LAYOUT_CONVERSION",
    "AMD_",
    "CUBLAS_",
    "CUDA_DEVICE_MAX_CONNECTIONS",
    "CUDA_DISABLE_PTX_JIT",
    "CUDA_FORCE_PTX_JIT",
    "CUDA_LAUNCH_BLOCKING",
    "CUDA_MODULE_LOADING",
    "CUDNN_",
    "DISABLE_",
    "FLAGGEMS_",
    "FLAGTREE_",
    "FLAGTUNE_",
    "GEMS_VENDOR",
    "GPU_MAX_HW_QUEUES",
    "HIPBLASLT_",
    "HSA_",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LLVM_",
    "MLIR_",
    "MTHREADS_",
    "MUSA_LAUNCH_BLOCKING",
    "NVIDIA_TF32_OVERRIDE",
    "PTXAS_OPTIONS",
    "PYTHONOPTIMIZE",
    "PYTORCH_",
    "ROCBLAS_",
    "TASK_QUEUE_ENABLE",
    "TORCH_",
    "TRITON_",
    "USE_FLAGTUNE",
    "USE_IR_LOC",
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
    )
)
