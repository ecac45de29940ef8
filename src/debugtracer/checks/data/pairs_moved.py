"""Does an input come with the same target each time?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.moved_pairs import MovedPairs
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

SAID = {
    "inputs": "The targets stand where they stood, the inputs do not",
    "targets": "The inputs stand where they stood, the targets do not",
    "both": "Both sides stand at other places than before, each at its own",
}


class PairsMoved(Check, frozen=True):
    """An input comes with another target each time that it comes.

    What it catches
        Inputs and targets that are shuffled each by a permutation of its own, or one of the two alone, in place between
        the epochs; a `__getitem__` that draws the row of one side at random.
    Why it matters
        From then on each input is asked for the answer of another one. There is nothing to learn, and the loss goes to
        where guessing is.
    How it decides
        The inputs of the first rows of a loader (of stored arrays, where there is none) and what a loss was given as
        their targets are remembered by their values. Of the inputs that come again bit for bit, in the next passes or a
        hundred steps later, three quarters as many have another target as pairs drawn by chance would have; the new
        targets are targets that other inputs had before, and say nothing of the old ones (fewer than 4 standard
        deviations of equal pairs above chance), as new cluster ids or labels that are corrected would. Inputs that are
        augmented never come again.
    What to do
        Shuffle both by one order: `order = torch.randperm(len(x)); x, y = x[order], y[order]`, or let the loader do it.
    Example
        step 24, rank 0: 512 inputs of TensorDataset (train.py:30) came again, and 381 of them have another target than
        before, one that another input had; the targets stand where they stood, the inputs do not (train.py:41);
        expected each input with its target. Shuffle both by one order.
    """

    needs: ClassVar[tuple[type[MovedPairs]]] = (MovedPairs,)
    kind: ClassVar[str] = "data_pairs_broken"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "shuffle both by one order: order = torch.randperm(len(x)); x, y = x[order], y[order]",
        "leave the data in its order and shuffle in the loader: DataLoader(TensorDataset(x, y), shuffle=True)",
    )
    proved_by: ClassVar[str] = "data/oyster_beds"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells each data once."""
        for fact in window.new(MovedPairs):
            todo = "Take both at the index that is asked for." if fact.drawn else "Shuffle both by one order."
            said = SAID[fact.moved][0].lower() + SAID[fact.moved][1:]
            if fact.drawn:
                said = "a row is drawn at random where its index is given"
            yield self.finding(
                window,
                "warning",
                f"{fact.rows} inputs of {fact.data}{spot(fact.loader_frame)} came again, and {fact.changed} of them "
                f"have another target than before, {'one' if fact.known == fact.rows else 'most of them one'} that "
                f"another input had; {said}{spot(fact.frame)}; expected each input with its target. {todo}",
                ref=fact.ref,
                place=Place(frame=fact.frame or fact.loader_frame, symptom_frame=fact.loader_frame),
                changed=float(fact.changed),
                rows=float(fact.rows),
            )
