"""What a benchmark process really runs on, read back from torch. Imported only inside such a process."""

from __future__ import annotations


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
