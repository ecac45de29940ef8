"""Huawei's Ascend, through torch_npu."""

from __future__ import annotations

from typing import ClassVar

from debugtracer.devices.device import Device


class Npu(Device):
    """torch.npu, as torch_npu registers it under PrivateUse1.

    Written to torch_npu's documented API and run against a stand-in device of that name; never run on an Ascend by us.
    Chips of the first training series compute in saturation mode: a result beyond the range is written as the largest
    number, and only the float status tells (`get_npu_overflow_flag`). Later ones write Inf and NaN
    (`utils.is_support_inf_nan`), as CUDA does."""

    kind = "npu"
    blocking: ClassVar[str] = "ASCEND_LAUNCH_BLOCKING"

    def saturates(self) -> bool:
        """True if the flag exists and the chip writes no Inf. A backend that does not say is one of the first
        series."""
        if not hasattr(self.module, "get_npu_overflow_flag"):
            return False
        ask = getattr(getattr(self.module, "utils", None), "is_support_inf_nan", None)
        return not (ask is not None and ask())

    def overflowed(self) -> bool:
        """Read `get_npu_overflow_flag`, which copies the float status to the host."""
        return bool(self.module.get_npu_overflow_flag())

    def clear_overflow(self) -> None:
        """Call `clear_npu_overflow_flag`, which clears the float status."""
        self.module.clear_npu_overflow_flag()
