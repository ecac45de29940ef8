"""Sees that tensors are written by safetensors or torch.distributed.checkpoint. Neither is imported by us."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from torch import Tensor
from torch.optim import Optimizer

from debugtracer.errors import guarded
from debugtracer.probes.probe import Patches
from debugtracer.probes.taker import Taker
from debugtracer.trace.facts.checkpoint import OtherSave

SLOTS = 64  # see CheckpointMark
WRITERS = {
    "safetensors.torch": ("serialize_file", "safetensors"),  # looked up by save_file and save_model when they run, however these were imported
    "torch.distributed.checkpoint.state_dict_saver": ("_save_state_dict", "torch.distributed.checkpoint"),  # the same for save and async_save
}


class OtherSavesTaker(Taker):
    """Counts; the tensors are not looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = Patches()
        self.counts: dict[str, int] = {}
        self.off = False

    def install(self) -> None:
        """Patch what is there already."""
        self.off = False
        self.cover()

    def remove(self) -> None:
        """Everything as it was."""
        self.off = True
        self.patches.undo()

    def forget(self) -> None:
        """A forked child starts from nothing."""
        self.counts.clear()

    def cover(self) -> None:
        """Patch libraries that came since the last look: a few dictionary reads."""
        for module, (function, means) in WRITERS.items():
            self.patches.cover(module, function, functools.partial(self.writing, means))

    def backward_begins(self, losses: list[Tensor]) -> None:
        """A library may have come."""
        self.cover()

    def step_closed(self, optimizer: Optimizer) -> None:
        """Or between the two."""
        self.cover()

    def writing(self, means: str, original: Callable[..., Any]) -> Callable[..., Any]:
        """One writer; what it raises is the user's and no save."""

        @functools.wraps(original)
        def write(*args: Any, **kwargs: Any) -> Any:
            written = original(*args, **kwargs)
            if not self.off:
                guarded("probes.other_saves")(self.on_written)(means)
            return written

        return write

    def on_written(self, means: str) -> None:
        """The fact, once training has begun."""
        if self.desk.recorder.step:
            number = self.counts[means] = self.counts.get(means, 0) + 1
            ref = self.desk.ref("update", self.desk.recorder.iteration_in_flight)
            self.desk.tell(OtherSave(ref=ref, means=means, slot=number % SLOTS))
