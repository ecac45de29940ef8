"""Detects saves by safetensors or torch.distributed.checkpoint. Neither is imported by us."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import LIBRARY, OURS, TORCH, place_of
from debugtracer.errors import guarded
from debugtracer.hooks.hook import OutermostCalls
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.trace.facts.checkpoint import SLOTS, OtherSave

WRITERS = {
    # looked up by save_file and save_model when they run, however these were imported
    "safetensors.torch": ("serialize_file", "safetensors"),
    # the same for save and async_save
    "torch.distributed.checkpoint.state_dict_saver": ("_save_state_dict", "torch.distributed.checkpoint"),
}


class OtherSavesObserver(Observer):
    """Counts; the tensors are not looked at."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.calls = OutermostCalls()
        self.counts: dict[str, int] = {}

    def install(self) -> None:
        """Patch what is there already."""
        self.calls.off = False
        self.cover()

    def remove(self) -> None:
        self.calls.close()

    def reset(self) -> None:
        self.counts.clear()

    def cover(self) -> None:
        """Patch libraries that were imported since the last call: a few dictionary reads."""
        for module, (function, means) in WRITERS.items() if self.calls.patches.news() else ():
            self.calls.patches.cover(module, function, functools.partial(self.writing, means))

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Patch a library that was imported since."""
        self.cover()

    def step_closed(self, optimizer: Optimizer) -> None:
        """Patch a library that was imported during the step."""
        self.cover()

    def writing(self, means: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap one writer; what it raises is the user's and no save."""

        @functools.wraps(original)
        def write(*args: Any, **kwargs: Any) -> Any:
            written = original(*args, **kwargs)
            if not self.calls.off and not by_us(sys._getframe(1)):
                guarded("observers.checkpoint.other_saves")(self.on_written)(means)
            return written

        return write

    def on_written(self, means: str) -> None:
        """Emit the save, once training has begun."""
        if self.run.step:
            number = self.counts[means] = self.counts.get(means, 0) + 1
            ref = self.run.ref("update", self.run.state.iteration_in_flight)
            self.run.emit(OtherSave(ref=ref, means=means, slot=number % SLOTS))


def by_us(frame: FrameType | None) -> bool:
    """True for a call that comes from us: the capsule of an incident is no checkpoint of the program."""
    while frame is not None and place_of(frame.f_code) in (LIBRARY, TORCH):
        frame = frame.f_back
    return frame is not None and place_of(frame.f_code) == OURS
