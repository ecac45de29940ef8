"""Does the evaluation number its classes as training does?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.evaluated_classes import EvaluatedClasses
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

SHOWN = 3  # classes named


class ClassesRenumbered(Check, frozen=True):
    """The class ids of the evaluation stand for other classes than those of training.

    What it catches
        A label encoder that is fitted on each part, ids by the order in which names are met or listed, labels of the
        evaluation that begin at 1: the model is right and is told that it is wrong.
    Why it matters
        The evaluation, the early stop and the best checkpoint follow a number that has nothing to do with the model.
    How it decides
        In an evaluation that is fed by another loader than training, labels and largest scores are counted. At least
        two classes of at least `samples` samples go to another class for at least `most` of them, and to their own for
        at most `own`; no two to the same; and they go to each other's ids, or no class of that size stays what it is.
        In training at least `trained` of the labels were found in the last look.
    What to do
        Make the table of names and ids once, from the training part or from a fixed list, and use it for both.
    Example
        step 200, rank 0: the evaluation (train.py:61) calls class 1 what training calls class 3 (38 of 40 samples, 0
        as class 1), and class 3 what it calls class 1, 4 of 5 classes in all; its labels were made at train.py:22;
        expected one table of class ids. Use that of training for both.
    """

    needs: ClassVar[tuple[type[EvaluatedClasses]]] = (EvaluatedClasses,)
    kind: ClassVar[str] = "targets_misaligned"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "one table of class names and ids, made from the training part, for all parts",
        "a fixed list of names: `{name: i for i, name in enumerate(sorted(names))}`",
    )
    proved_by: ClassVar[str] = "data/harbour_calls"

    samples: int = 10  # of a class (ours)
    most: float = 0.75  # share that goes to one other class (ours)
    own: float = 0.15  # share that is called its own class (ours)
    trained: float = 0.6  # share of the training labels that are found (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say it once for each loader of an evaluation."""
        memory = window.memory(self)
        for fact in window.new(EvaluatedClasses):
            moved = self.moved(fact)
            if fact.frame not in memory and moved and fact.trained >= self.trained:
                memory[fact.frame] = True
                yield self.describe(window, fact, moved)

    def moved(self, fact: EvaluatedClasses) -> list[int]:
        """The classes that are called by another id; none where that is no other numbering."""
        large = [i for i, count in enumerate(fact.counts) if count >= self.samples]
        gone = [
            i
            for i in large
            if fact.called[i] != i
            and fact.most[i] >= self.most * fact.counts[i]
            and fact.hits[i] <= self.own * fact.counts[i]
        ]
        to = {fact.called[i] for i in gone}
        if len(gone) < 2 or len(to) < len(gone) or (to != set(gone) and gone != large):
            return []
        return gone

    def describe(self, window: Window, fact: EvaluatedClasses, moved: list[int]) -> Finding:
        """Build the finding with the first classes of another number."""
        first, *others = moved[:SHOWN]
        more = "".join(f", class {i} what it calls class {fact.called[i]}" for i in others)
        classes = sum(count > 0 for count in fact.counts)
        return self.finding(
            window,
            "warning",
            f"the evaluation{spot(fact.frame)} calls class {first} what training calls class {fact.called[first]} "
            f"({fact.most[first]} of {fact.counts[first]} samples, {fact.hits[first]} as class {first}){more}, "
            f"{len(moved)} of {classes} classes in all{labels_made(fact)}; expected one table of class ids. Use that "
            "of training for both.",
            ref=fact.ref,
            place=Place(frame=fact.made[0] if fact.made else fact.frame, symptom_frame=fact.frame),
            classes=float(len(moved)),
        )


def labels_made(fact: EvaluatedClasses) -> str:
    """Name the lines that wrote the labels; empty where they are not known."""
    at = made_at(fact.made)
    return f"; its labels were{at.removeprefix(',')}" if at else ""
