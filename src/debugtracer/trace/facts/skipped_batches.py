"""Batches that went through the model in training and changed nothing."""

from __future__ import annotations

from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.fact import Fact

LAST = 10_000  # batches looked back at (docs/rationale/checks.md#rb_skip_budget)


class SkippedBatches(Fact, frozen=True, kw_only=True):
    """The count so far; emitted when it is large enough and whenever it has doubled."""

    ABOUT = "a DataLoader"
    KEEP = 16

    skipped: int
    """Of the last LAST batches of training."""
    batches: int
    """How many these are: LAST, or fewer in a younger run."""
    first: int
    """The step before which the first of them was skipped."""
    last: int
    unused: int
    """Skipped before the backward; the others had one whose gradients were thrown away (or a scaler skipped the
    update)."""
    scaler: int = 0
    """Updates that a GradScaler skipped, after its first good one."""
    frame: Frame | None = None
    """The line of the update that they did not reach."""
    samples: tuple[int, ...] = ()
    """Dataset indices of the first skipped batches."""
    never_used: tuple[int, ...] = ()
    """Dataset indices that came in three skipped batches and more and, since the first of them, in no other."""
