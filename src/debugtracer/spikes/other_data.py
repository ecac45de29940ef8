"""Whether a loss stood out where training went over to another dataset, or the first losses are those of something
else."""

from __future__ import annotations

from debugtracer.spikes.level import BLOCK
from debugtracer.trace.facts.loop_change import LoopChange
from debugtracer.trace.facts.new_training import NewTraining
from debugtracer.trace.facts.outlying_batch import OutlyingBatch
from debugtracer.trace.window import Window

NEAR = 3  # steps between what stood out and the first loss that did (ours, as of a change of the loop)
MANY = 3  # trainings of other parameters than before (ours)
SHORT = 3 * BLOCK  # updates of each: a block of losses is no start of theirs (ours)
SAID = (
    " Another dataset than in all steps before is read from there on: nothing, if that is another task or stage; "
    "else compare the two."
)


def other_data(window: Window, step: int) -> bool:
    """Whether another dataset than in the many steps before has just begun to be read."""
    return any(fact.other_data and abs(fact.ref.step - step) <= NEAR for fact in window.seen(OutlyingBatch))


def other_start(window: Window) -> bool:
    """Whether the first losses are no measure of the last: another dataset is read since, the loss was changed, or many
    networks are trained one after the other, each for a few updates."""
    trained = [fact for fact in window.seen(NewTraining) if fact.why == "parameters"]
    if len(trained) >= MANY and all(fact.before < SHORT for fact in trained):
        return True
    read = any(fact.other_data for fact in window.seen(OutlyingBatch))
    return read or any(fact.of_loss for fact in window.seen(LoopChange))
