"""A bad step at the gate, as the policy and the responses see it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from torch.optim import Optimizer

from debugtracer.trace.number import number
from debugtracer.trace.verdict import Trial

BAD_WEIGHTS = "the weights themselves are not finite: no other batch can be better"

BLAMED = "updates before it are to blame: the loss had left its level, or older weights heal it and no other batch"


@dataclass(frozen=True)
class BadStep:
    """What is known of it when its update is due, or was just written."""

    step: int
    iteration: int
    optimizer: Optimizer
    loss: float | None = None
    """The bad loss of the window; None where all were finite."""
    gradient: bool = False
    """Some gradient is not finite."""
    sibling: bool = False
    """Another optimizer's update after the same backward was left out."""
    reported: bool = False
    """Another rank has found its part of the update bad."""
    weights: bool = False
    """Some parameter is not finite: it was so before this batch came."""
    elsewhere: bool = False
    """Those are the weights of another rank."""
    written: bool = False
    """Its update was written already."""
    obstacle: str = ""
    """Why its update cannot be left out; empty when it can."""
    cause: str | None = None
    """What the verdict of its incident says, where one was opened at this step."""
    weights_to_blame: bool = False
    """The weights are finite, but trials have shown that another batch does not heal the step, and that older ones do
    or that the loss had left its level by then; that alone where the batch was not tried."""
    failed_unscales: int = 0
    """Updates in a row that a GradScaler has left out, where a lower scale is known not to help; 0: none."""
    scaler: Any = None
    """A GradScaler whose scale is above 1 and lets no update through; None in any other case."""
    overflows: int = 0
    """Updates in a row that it has left out."""
    samples: tuple[int, ...] | None = None
    """Dataset indices of the batches in its window, where they are known."""
    guilty: tuple[int, ...] = ()
    """Those that its verdict names."""

    @property
    def is_bad(self) -> bool:
        """Whether anything speaks against it."""
        seen = self.gradient or self.weights or self.sibling or self.reported
        return bool(seen or self.loss is not None or self.failed_unscales or self.overflows)

    @property
    def seen(self) -> str:
        """What was seen, in words: `the loss is NaN`."""
        if self.elsewhere:
            return "the weights of another rank are not finite"
        if self.weights:
            return "the weights are not finite after its update" if self.written else "the weights are not finite"
        if self.loss is not None:
            return f"the loss is {number(self.loss)}"
        if self.failed_unscales:
            return f"the GradScaler has left {self.failed_unscales} updates in a row out, and no lower scale helps"
        if self.overflows:
            return f"the GradScaler has left {self.overflows} updates in a row out, and its scale is still above 1"
        if self.reported and not self.gradient:
            return "another rank has found its part of this update bad"
        if self.gradient or not self.sibling:
            return "a gradient is not finite"
        return "another optimizer's update after the same backward was left out"


@dataclass(frozen=True)
class SeenBatch:
    """A batch that was looked at before the loop got it."""

    step: int
    iteration: int
    samples: tuple[int, ...] | None
    seen: str = "the batch holds values that are not finite"
    guilty: tuple[int, ...] = ()
    """Those whose own values are not finite."""
    asked: bool = False
    """Nothing was wrong with it: a person has asked."""


def blames_weights(trials: Iterable[Trial], risen: bool = False) -> bool:
    """Whether updates before the step are at fault: another batch does not heal it, and older weights do or the loss
    had `risen` by then (the older weights at hand may be bad already). A trial that was not made, for which there was
    no time on a busy machine, decides nothing: then the loss alone speaks."""
    tried = [trial for trial in trials if trial.outcome in ("healed", "not healed")]
    healed = {trial.intervention.partition("=")[0]: trial.outcome == "healed" for trial in tried}
    if "other-batch" not in healed:
        return risen
    return (healed.get("older-weights", False) or risen) and not healed["other-batch"]
