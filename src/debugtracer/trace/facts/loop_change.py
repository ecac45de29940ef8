"""What the loop did in a step whose loss stood out, and in none of the steps before it."""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number


class LoopChange(Fact, frozen=True, kw_only=True):
    """A line that wrote weights, a number that an operator of the loop was given, or another loss; seen when the loss
    jumped."""

    ABOUT = "a loss that stood out"
    KEEP = 32

    function: str
    """The call, as torch names it."""
    params: tuple[str, ...] = ()
    """The parameters that it wrote; empty for a number."""
    before: Number = 0.0
    """The number that it was given as a rule."""
    after: Number = 0.0
    """The number that it was given now."""
    sudden: bool = True
    """It changed at once; a number may also have grown from step to step."""
    of_loss: bool = False
    """It lies between the model and the loss: that is computed otherwise from here on."""
    what: Literal["", "weights", "criterion", "term"] = ""
    """Of the loss, where it is no number: a tensor that weighs it, the module that computes it, a call that is new."""
    steps: int
    """Steps before this one that are known."""
    frame: Frame

    def key(self) -> object:
        """Identify the fact itself: each is of one step."""
        return self.ref.step, self.frame, self.function

    def explains(self, times: float) -> bool:
        """Whether a number changed at once and by so many times, up or down."""
        before, after = abs(float(self.before)), abs(float(self.after))
        return not self.params and not self.what and self.sudden and max(before, after) >= times * min(before, after)

    @property
    def words(self) -> str:
        """What happened, in one clause."""
        at = f"{self.frame.file.rpartition('/')[2]}:{self.frame.line}"
        if self.params:
            more = f" and {len(self.params) - 1} more parameters" if len(self.params) > 1 else ""
            return f"`{self.function}` at {at} wrote {self.params[0]}{more}, in none of the {self.steps} steps before"
        if self.what == "weights":
            return f"`{self.function}` at {at} has other values than in the {self.steps} steps before"
        if self.what:
            word = "computes it" if self.what == "criterion" else "is a part of it"
            return f"`{self.function}` at {at} {word}, in none of the {self.steps} steps before"
        return (
            f"`{self.function}` at {at} was given {float(self.after):.4g}, in the {self.steps} steps before "
            f"{float(self.before):.4g} as a rule"
        )
