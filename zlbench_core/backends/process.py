"""What a benchmark process really runs on, read back from torch. Imported only inside such a process."""

from __future__ import annotations

from typing import Any


def torch_cuda_device(driver: str | None) -> dict[str, str | None]:
    """The model and unique id of torch's current CUDA device; a slice of a device has the prefix "MIG-"."""
    import torch

    properties = torch.cuda.get_device_properties(torch.cuda.current_device())
    prefix = "MIG" if "MIG" in properties.name else "GPU"
    uuid = getattr(properties, "uuid", None)
    return {
        "device": properties.name,
        "device_uuid": f"{prefix}-{uuid}" if uuid is not None else None,
        "driver": driver,
    }


def torch_named_device(kind: str, driver: str | None) -> dict[str, str | None]:
    """The model of the current device of a torch extension ("musa", "npu"), which tells no unique id."""
    import torch

    interface = getattr(torch, kind)
    return {
        "device": interface.get_device_name(interface.current_device()),
        "device_uuid": None,
        "driver": driver,
    }


def give_back_cuda_pool(pool: Any) -> None:
    """End the allocation of the current device's graph pool and drop it, as a capture that works does itself.

    The names are torch's own, private ones (2.4 to 2.15); a torch without them keeps the pool.
    """
    import torch

    end = getattr(torch._C, "_cuda_endAllocateToPool", None) or getattr(
        torch._C, "_cuda_endAllocateCurrentStreamToPool", None
    )
    release = getattr(torch._C, "_cuda_releasePool", None)
    if end is not None and release is not None:
        device = torch.cuda.current_device()
        end(device, pool)
        release(device, pool)
