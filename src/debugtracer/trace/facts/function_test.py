"""What came of one trial of the model as a function: a changed input, and whether the outputs that must not change
did."""

from __future__ import annotations

from typing import Literal

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.number import Number

Trial = Literal[
    "later_tokens",
    "own_token",
    "shifted_token",
    "other_samples",
    "any_input",
    "over_batch",
    "other_positions",
    "dropout_left_on",
    "target_window",
    "own_row",
    "reading_order",
    "row_order",
    "late_mask",
    "skipped",
]


FIRST = "first"
"""Of other_samples, `function`: the outputs of the others depend on the first sample alone."""


class FunctionTest(Fact, frozen=True, kw_only=True):
    """One trial on a shadow copy in evaluation mode; two runs with the same input were equal before it."""

    trial: Trial
    """later_tokens: tokens from `position` on are changed; own_token: the one at `position`, which is its own target in
    a model that reads from left to right; shifted_token: the target is a token further on than the next, `position` of
    them; other_samples: all samples but that at `position`; over_batch: a recurrent layer, or an attention, runs along
    the batch and not along its `length` steps; any_input: samples change places; other_positions: along one dimension
    of an input, all positions but one are those of another sample; target_window: one of the `common` positions that
    the target has with the input, from `position` on, is changed, and the output there with it; dropout_left_on: two
    runs differ, and do not with the dropouts off that nobody turns off; own_row: of `length` rows that were changed one
    at a time, `position` reach others through `module` and not themselves; reading_order: the answers at the `length`
    positions of a sequence have seen its other end (`function`: mixed, reversed); row_order: of `length` rows that were
    changed one at a time, the output of `position` stands at another row (`function`: again, where the same order was
    taken before), while the targets stand in the order of the batch; late_mask: the tokens are their own
    targets, and the one at `position`, which is changed, reaches all outputs after it, its own, and those of `length`
    positions before."""
    root: str
    changed: bool = False
    """Outputs that the change should not reach have changed (any_input, other_positions: nothing has changed at
    all)."""
    position: int | None = None
    common: int = 0
    """target_window: positions that are in the input and in the target, which has `length` of them; own_row: rows of
    the input."""
    argument: str = ""
    """target_window: the argument that holds the target, where another one holds what comes before it."""
    dim: int | None = None
    length: int | None = None
    """other_positions: the dimension and its size; `position` is the one that was left as it was."""
    size: Number | None = None
    """Largest change, in the unit of the output's standard deviation."""
    module: str | None = None
    """The first module in which it shows."""
    frame: Frame | None = None
    function: str = ""
    """later_tokens: the torch function in which it shows, where that is no attention; over_batch: `attention` where it
    is one; reading_order: in which way; other_samples: `first` where the sample depends on the first one alone."""
    made: tuple[Frame, ...] = ()
    """own_token, shifted_token, target_window: the lines that wrote the targets, or the `argument`; later_tokens: those
    that wrote the mask of the attention in which it shows; own_row: those that wrote what links rows; row_order: the
    one that took rows in another order first; the one that made them first."""
    loss_of: str = ""
    """own_token, shifted_token: the class of a library's model that computes the loss from the labels it is given."""
    why: str = ""
    """Why it was skipped."""

    def key(self) -> object:
        """Identify the trial and the root it was run on."""
        return self.trial, self.root
