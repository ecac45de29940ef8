"""Which tensors lie on different devices?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.crash import Crash
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window

REFUSALS = (
    "Expected all tensors to be on the same device",
    "is not on the expected device",
    "should be the same or input should be a MKLDNN tensor",
    "on different devices",
)


class DeviceMismatch(Check, frozen=True):
    """Tensors of one call lie on different devices.

    What it catches
        A batch that was not moved, a mask or a position table made with torch.zeros(...) on the CPU, a buffer kept as a
        plain attribute.
    Why it matters
        torch names two devices and not the tensor that was left behind.
    How it decides
        The exception says so; the tensors of the call and the parameters of the module are compared.
    What to do
        Move the tensor, make it with device=x.device, or register it with register_buffer so that .to() moves it.
    Example
        step 0, rank 0: encoder (Linear, cuda:0) was given input on cpu; expected cuda:0. Move it with .to(device).
    """

    needs: ClassVar[tuple[type[Crash]]] = (Crash,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "device_mismatch"
    symptom: ClassVar[str] = "crash"
    exact: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "move the batch: x = x.to(device)",
        "make helper tensors with device=x.device",
        "register tables with register_buffer so that model.to() moves them",
    )
    proved_by: ClassVar[str] = "device/half_moved"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding when the program died of such tensors."""
        for crash in window.new(Crash):
            if any(text in crash.message for text in REFUSALS):
                yield self.describe(window, crash)

    def describe(self, window: Window, crash: Crash) -> Finding:
        """Which module, which tensor."""
        module = crash.modules[0] if crash.modules else None
        odd = [t for t in crash.tensors if module and module.device and t.device != module.device]
        if module is not None and odd:
            seen = (
                f"{module.path or '(root)'} ({module.kind}, {module.device}) was given {odd[0].name} on "
                f"{odd[0].device}; expected {module.device}"
            )
        else:
            named = ", ".join(f"{t.name} on {t.device}" for t in crash.tensors[:6])
            seen = f"tensors of one call lie on different devices{f': {named}' if named else ''}; expected one device"
        return self.finding(
            window,
            "error",
            f"{seen}. Move it with .to(device).",
            ref=crash.ref,
            place=crash.place(),
        )
