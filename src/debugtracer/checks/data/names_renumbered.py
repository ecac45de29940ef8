"""Do training and evaluation give a name the same id?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.other_numbers import OtherNumbers
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class NamesRenumbered(Check, frozen=True):
    """The dataset of an evaluation numbers the words that a model reads by a table of its own.

    What it catches
        A vocabulary, or a table of users, that each part of the data builds for itself: id 7 is one word
        in training and another one in the evaluation.
    Why it matters
        Training looks perfect; the evaluation, the early stop and the best checkpoint follow what a model answers to
        other words than those that were written.
    How it decides
        Two datasets, one that was trained on and one that was not, hold a dict from names to numbered ids under the
        same attribute. They are two tables, and of the names in both at least two, and a tenth, have two ids; and a
        layer with weights is given integers in that evaluation: a table that only the dataset reads, or ids that are
        compared among themselves, may be its own. A table with one name for each sample is left alone; classes are the
        matter of data/classes-renumbered.
    What to do
        Build the table from the training part, and hand it to the others.
    Example
        step 0, rank 0: `vocab.stoi` of Reviews (data.py:73) gives 213 of 214 names another id than training ('the' is
        7, in training 4); expected one table. Build it from the training part and hand it to the others.
    """

    needs: ClassVar[tuple[type[OtherNumbers]]] = (OtherNumbers,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "tokenizer_mismatch"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "build the table once, from the training part, and hand it on: Data(valid, vocab=train.vocab)",
        "save it beside the checkpoint: a service needs the same one",
    )
    proved_by: ClassVar[str] = "data/herring_words"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells each table once."""
        for fact in window.new(OtherNumbers):
            yield self.finding(
                window,
                "warning",
                f"`{fact.attribute}` of {fact.dataset}{spot(fact.frame)} gives {fact.differ} of {fact.common} names "
                f"another id than training ({fact.name!r} is {fact.evaluated}, in training {fact.trained}); expected "
                "one table. Build it from the training part and hand it to the others.",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.loader),
                differ=float(fact.differ),
            )
