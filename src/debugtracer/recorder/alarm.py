"""An alarm: a bad number, and everything the replay needs to investigate it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.recorder.tape.entry import Slot
from debugtracer.recorder.tape.step_tape import Segment
from debugtracer.trace.incident import Symptom


@dataclass
class Alarm:
    """Raised by the recorder before the user's code goes on."""

    symptom: Symptom
    segment: Segment
    iteration: int
    step: int
    microbatch: int = 0
    loss: Tensor | None = None
    slot: Slot | None = None
    """Where the tape made that loss."""
    output: Any = None
    """For nan_output: what the root gave."""
    module: nn.Module | None = None
    optimizer: Optimizer | None = None
    trained: tuple[Tensor, ...] = ()
    """What the loop trains, where no optimizer holds it."""
    scaler: Any = None
    at_scale_one: bool = False
    """Replay with the loss scale set to 1: separates a scale search from a real fault."""
    frames: Any = None
    """Raw user frames where it showed."""
    loss_value: float | None = None
    grad_l2: float | None = None
    previous: Segment | None = None
    peeked: bool = False
    """The user's code looks at the bad loss: it may react before any gate is reached."""
    written: bool = False
    """The update of the step is written: a replay begins with the copy from before it."""
    late: str = ""
    """Why the state of the step is no longer at hand; empty when it is."""
