from tests.unit.timing.conftest import activate, device, torch_cuda

__all__ = ["activate", "device", "torch_cuda"]
