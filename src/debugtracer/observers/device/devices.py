"""Finds the devices of parameters, and counts in inspected steps the calls that wait for an accelerator."""

from __future__ import annotations

from collections import Counter
from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import frames_of, raw_frames
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.trace.facts.devices import Devices, HostSyncs, Waiting

WAITS = {
    "item",
    "tolist",
    "cpu",
    "numpy",
    "__bool__",
    "__float__",
    "__int__",
    "__index__",
    "nonzero",
    "is_nonzero",
    "equal",
}
NAMED, LINES = 4, 8  # parameters and lines kept as evidence


class DevicesObserver(Observer):
    """On a machine without accelerator only the first of the two says anything."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.syncs: Counter[tuple[str, Any]] = Counter()

    @of_functions(WAITS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Count a call by which the host reads a tensor on a device."""
        name = getattr(function, "__name__", "")
        if name in WAITS and args and isinstance(args[0], Tensor) and args[0].device.type not in ("cpu", "meta"):
            self.syncs[name, raw_frames(2)[:1]] += 1

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Emit the counts and devices at the end of an inspected step."""
        if not self.run.inspecting:
            return
        ref = self.run.ref("update", self.run.iteration - 1)
        if self.syncs:
            at = [
                Waiting(function=name, frame=next(iter(frames_of(raw)), None), count=n)
                for (name, raw), n in self.syncs.most_common(LINES)
            ]
            self.run.emit(HostSyncs(ref=ref, count=sum(self.syncs.values()), at=tuple(at)))
            self.syncs.clear()
        names = self.run.names()
        kinds: dict[str, list[str]] = {}
        for module in self.run.modules():
            for name, parameter in module.named_parameters():
                kinds.setdefault(parameter.device.type, []).append(names.get(id(parameter), name))
        if kinds:
            order = sorted(kinds, key=lambda kind: -len(kinds[kind]))
            self.run.emit(
                Devices(
                    ref=ref,
                    counts=tuple((kind, len(kinds[kind])) for kind in order),
                    few=tuple(kinds[order[-1]][:NAMED]),
                )
            )
