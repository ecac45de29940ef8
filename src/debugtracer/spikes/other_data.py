"""Whether a loss stood out where training went over to another dataset."""

from __future__ import annotations

from debugtracer.trace.facts.outlying_batch import OutlyingBatch
from debugtracer.trace.window import Window

NEAR = 3  # steps between what stood out and the first loss that did (ours, as of a change of the loop)
SAID = (
    " Another dataset than in all steps before is read from there on: nothing, if that is another task or stage; "
    "else compare the two."
)


def other_data(window: Window, step: int) -> bool:
    """Whether another dataset than in the many steps before has just begun to be read."""
    return any(fact.other_data and abs(fact.ref.step - step) <= NEAR for fact in window.seen(OutlyingBatch))
