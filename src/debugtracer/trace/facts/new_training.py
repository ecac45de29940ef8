"""Another training has begun in the same program: what was learnt of the losses so far does not hold for it."""

from __future__ import annotations

from debugtracer.trace.facts.fact import Fact


class NewTraining(Fact, frozen=True, kw_only=True):
    """The first update of other parameters, or the first after weights were loaded."""

    KEEP = 4

    why: str
    """`parameters` or `load`."""
    before: int
    """Updates of the training before."""
