"""Runs a training script unchanged and writes the loss of each backward call, as it is or with a guard of the kind that
people write by hand.

    python noted_losses.py OUT.json plain|guarded|lightning SCRIPT

`guarded` stands for `if not torch.isfinite(loss): continue` in front of `loss.backward()`: the backward and the next
optimizer step are left out. Calls that come out of a replay of debug-tracer are not noted.
`lightning` is its own watch, `Trainer(detect_anomaly=True)`."""

from __future__ import annotations

import atexit
import json
import math
import os
import random
import runpy
import sys
from pathlib import Path
from typing import Any

REPLAYS = ("debugtracer.replay", "debugtracer.interventions", "debugtracer.diagnosis")


def is_replay() -> bool:
    """Whether the caller of the caller is a replay of debug-tracer."""
    frame = sys._getframe(2)
    while frame is not None:
        if frame.f_globals.get("__name__", "").startswith(REPLAYS):
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False


class Guard:
    """A hand-written guard: the update after a bad loss is left out."""

    def __init__(self) -> None:
        self.skips = False

    def attach(self) -> None:
        """Put it in front of the steps of torch's own optimizers."""
        import torch

        for kind in {type_ for type_ in vars(torch.optim).values() if isinstance(type_, type)}:
            if "step" in vars(kind) and kind is not torch.optim.Optimizer:
                kind.step = self.guarded(kind.step)

    def guarded(self, step: Any) -> Any:
        """One step that passes once after a bad loss."""

        def call(optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if self.skips:
                self.skips = False
                return None
            return step(optimizer, *args, **kwargs)

        return call


def note(result: Path, guard: Guard | None) -> None:
    """Begin to note losses; they are written when this very process ends."""
    import numpy
    import torch

    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)
    losses: list[float] = []
    scales: dict[int, float] = {}
    call: Any = torch.Tensor.backward
    scale: Any = torch.amp.GradScaler.scale

    def scaled(self: Any, outputs: Any) -> Any:
        """The loss that is noted is the one before a GradScaler has made it larger."""
        found = scale(self, outputs)
        if isinstance(found, torch.Tensor) and not is_replay():
            scales[id(found)] = float(self.get_scale())
        return found

    owner = os.getpid()

    def noted(self: Any, *args: Any, **kwargs: Any) -> Any:
        if is_replay():
            return call(self, *args, **kwargs)
        losses.append(float(self.detach().double().mean()) / scales.pop(id(self), 1.0))
        if guard is not None and not math.isfinite(losses[-1]):
            guard.skips = True
            return None
        return call(self, *args, **kwargs)

    def write() -> None:
        if os.getpid() == owner:
            result.write_text(json.dumps(losses))

    torch.Tensor.backward = noted  # type: ignore[method-assign]
    torch.amp.GradScaler.scale = scaled  # type: ignore[method-assign]
    atexit.register(write)


def watch_with_lightning() -> None:
    """Switch on what Lightning has against a loss that is NaN."""
    import lightning

    kind: Any = lightning.Trainer
    begin = kind.__init__

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        begin(self, *args, **(kwargs | {"detect_anomaly": True}))

    kind.__init__ = __init__


if __name__ == "__main__":
    out, how, target = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    guard = Guard() if how == "guarded" else None
    note(out, guard)
    if guard is not None:
        guard.attach()
    if how == "lightning":
        watch_with_lightning()
    sys.argv = [target]
    sys.path[0] = str(Path(target).resolve().parent)
    runpy.run_path(target, run_name="__main__")
