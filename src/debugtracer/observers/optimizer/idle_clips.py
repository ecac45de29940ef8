"""Finds clipping that has nothing to clip in a loop that writes its weights itself."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from debugtracer.callsites.frames import raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.trace.facts.clipping import ClippedNothing

RUNNING = 2  # backwards running, as for the loops of an optimizer


class IdleClipsObserver(Observer):
    """Silent once an optimizer has stepped: the order of its calls tells then. Reads the norm that the call
    returned."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.fresh, self.idle, self.last = True, 0, -1
        """A backward came since gradients were cleared; clips without one, running; the iteration of the last."""

    def reset(self) -> None:
        self.fresh, self.idle, self.last = True, 0, -1

    def missed(self) -> None:
        """Forget what was noted in a step that was not seen to its end."""
        self.reset()

    def backward_ended(self, losses: list[Tensor]) -> None:
        """Note that there are gradients."""
        self.fresh = True

    def zeroed(self, owner: Any) -> None:
        """Note that they were cleared."""
        self.fresh = False

    def clipped(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], norm: Any) -> None:
        """Emit the second clip running that found no gradient at all before its backward."""
        limit = args[1] if len(args) > 1 else kwargs.get("max_norm")
        if self.run.state.stepped or not isinstance(limit, (int, float)) or not isinstance(norm, Tensor):
            return
        if self.fresh or norm.numel() != 1 or norm.device.type != "cpu" or float(norm) != 0.0:
            self.idle = 0
            return
        self.idle += self.run.iteration != self.last
        self.last = self.run.iteration
        if self.idle == RUNNING and self.run.iteration:
            ref = self.run.ref("clip", self.run.iteration)
            self.run.emit(ClippedNothing(ref=ref, frame=first(raw_frames(1)), limit=float(limit)))
