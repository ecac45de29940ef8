"""Looks at where parameters live, and counts in inspected steps the calls that wait for an accelerator."""

from __future__ import annotations

from collections import Counter
from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.probes.frames import frames_of, raw_frames
from debugtracer.probes.taker import Taker
from debugtracer.trace.facts.devices import Devices, HostSyncs, Waiting

WAITS = {"item", "tolist", "cpu", "numpy", "__bool__", "__float__", "__int__", "__index__", "nonzero", "is_nonzero", "equal"}
NAMED, LINES = 4, 8  # parameters and lines kept as evidence


class DevicesTaker(Taker):
    """On a machine without accelerator only the first of the two says anything."""

    def __init__(self) -> None:
        super().__init__()
        self.syncs: Counter[tuple[str, Any]] = Counter()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """A tensor on a device is read by the host."""
        name = getattr(function, "__name__", "")
        if name in WAITS and args and isinstance(args[0], Tensor) and args[0].device.type not in ("cpu", "meta"):
            self.syncs[name, raw_frames(2)[:1]] += 1

    def step_closed(self, optimizer: Optimizer) -> None:
        """The end of an inspected step."""
        if not self.desk.inspecting:
            return
        ref = self.desk.ref("update", self.desk.iteration - 1)
        if self.syncs:
            at = [Waiting(function=name, frame=next(iter(frames_of(raw)), None), count=n) for (name, raw), n in self.syncs.most_common(LINES)]
            self.desk.tell(HostSyncs(ref=ref, count=sum(self.syncs.values()), at=tuple(at)))
            self.syncs.clear()
        names = self.desk.names()
        kinds: dict[str, list[str]] = {}
        for module in self.desk.modules():
            for name, parameter in module.named_parameters():
                kinds.setdefault(parameter.device.type, []).append(names.get(id(parameter), name))
        if kinds:
            order = sorted(kinds, key=lambda kind: -len(kinds[kind]))
            self.desk.tell(Devices(ref=ref, counts=tuple((kind, len(kinds[kind])) for kind in order), few=tuple(kinds[order[-1]][:NAMED])))
