"""Devices on which operators run. `device.npu` is the only importer of torch_npu."""
