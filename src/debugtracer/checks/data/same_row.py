"""Does each sample have ids of its own?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.same_rows import SameRows
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class SameRow(Check, frozen=True):
    """A sequence of ids is the same in every sample, while another one differs.

    What it catches
        A negative, a distractor or a context that is drawn once in the constructor of the dataset instead of for each
        sample; an index that is not that of the sample.
    Why it matters
        The model learns to tell that one sequence from all others: the loss goes to nearly nothing and ranks nothing.
    How it decides
        In the first three batches of the first loader a (samples, columns) tensor of whole numbers has one row in all
        samples, with three different ids or more, which are no positions (a row that rises evenly), and another such
        tensor of the same batches differs from sample to sample.
    What to do
        Draw it where the sample is made.
    Example
        step 0, rank 0: batch[2] of Pairs (train.py:60) is the same row of 12 ids in all 96 samples, made at data.py:27,
        while batch[0] differs; expected one of its own for each sample. Draw it in __getitem__.
    """

    needs: ClassVar[tuple[type[SameRows]]] = (SameRows,)
    kind: ClassVar[str] = "data_constant_feature"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "draw it in __getitem__, with the index of the sample left out",
        "or in the collate function, for each sample of the batch",
    )
    proved_by: ClassVar[str] = "data/recipe_titles"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Say it once for each tensor."""
        for fact in window.new(SameRows):
            yield self.finding(
                window,
                "warning",
                f"{fact.path} of {fact.dataset}{spot(fact.frame)} is the same row of {fact.columns} ids in all "
                f"{fact.rows} samples{made_at(fact.made)}, while {fact.beside} differs; expected one of its own for "
                "each sample. Draw it in __getitem__.",
                ref=fact.ref,
                place=Place(frame=fact.made[0] if fact.made else fact.frame, symptom_frame=fact.frame),
                samples=float(fact.rows),
            )
