"""Do training and evaluation give the same key the same number?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.parted_maps import PartedMaps
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class NumberedApart(Check, frozen=True):
    """Two objects of one class number the same words, users or items differently, for one model.

    What it catches
        `Dataset("valid.csv")` beside `Dataset("train.csv")` where it should be given the map of the first,
        `item_map=train.item_map`: each numbers the items in the order in which its own file has them.
    Why it matters
        Number 7 is one item in training and another one in evaluation. Training is right and every metric of the
        evaluation is that of guessing.
    How it decides
        In an inspected step the program holds two objects of one of its classes (four at most), each with a numbering
        of its own under the same name: a dict from words or ids to whole numbers, a list of words, a table of two
        columns. Most keys of the smaller one (0.8) are keys of the other, too, and of these every third or more has
        another number. The model has weights of the size of the larger numbering, and none of the size of the other
        one: two languages, users beside items, have each their own table.
    What to do
        Make the numbering once, of the training data, and give it to the other object.
    Example
        step 1, rank 0: Ratings (main.py:9) numbers the 44 keys of item_ids in its own way: 41 of the 44 that it shares
        with the Ratings made before (main.py:8) have another number there (i17 is 3, and 40 here), and the model has
        weights for 60; expected one numbering for both. Give it that of the other.
    """

    needs: ClassVar[tuple[type[PartedMaps]]] = (PartedMaps,)
    kind: ClassVar[str] = "tokenizer_mismatch"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "make the numbering once, of the training data, and pass it on: Dataset(valid, item_map=train.item_map)",
        "save it beside the weights, so that an evaluation later has the same",
    )
    proved_by: ClassVar[str] = "data/quay_parcels"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say it once for each class and name."""
        told = window.memory(self)
        for fact in window.new(PartedMaps):
            if told.setdefault((fact.owner, fact.name), fact.ref.step) == fact.ref.step:
                yield self.describe(window, fact)

    def describe(self, window: Window, fact: PartedMaps) -> Finding:
        """Build the warning at the line of the later one."""
        first, later = fact.numbers
        return self.finding(
            window,
            "warning",
            f"{fact.owner}{spot(fact.frame)} numbers the {fact.sizes[1]} keys of {fact.name} in its own way: "
            f"{fact.differ} of the {fact.shared} that it shares with the {fact.owner} made before"
            f"{spot(fact.first_frame)} have another number there ({fact.key_shown} is {first}, and {later} here), and "
            f"the model has weights for {max(fact.sizes)}; expected one numbering for both. Give it that of the other.",
            ref=fact.ref,
            place=Place(frame=fact.frame),
        )
