"""Can each row of the data be drawn?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.loaders import LoaderSeen
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class RowsLeftOut(Check, frozen=True):
    """A sampler has fewer weights than the data have rows: the rows beyond are never drawn.

    What it catches
        `WeightedRandomSampler(class_weights, ...)`: one weight per class where one per row is wanted.
    Why it matters
        With ten classes the first ten rows are drawn again and again. The training loss falls to nothing; nothing else
        is learnt.
    How it decides
        The number of weights against the length of the dataset: the sampler draws places of its list of weights, and
        hands them out as row numbers. Told where it draws at least twice as many rows in a pass as it has weights.
    What to do
        Give each row the weight of its class: `class_weights[labels]`.
    Example
        step 0, rank 0: the WeightedRandomSampler of TensorDataset (train.py:21) has 10 weights for 829 rows, so rows
        10..828 are never drawn; expected one weight per row. Index the weights with the labels.
    """

    needs: ClassVar[tuple[type[LoaderSeen]]] = (LoaderSeen,)
    kind: ClassVar[str] = "data_rows_left_out"
    symptom: ClassVar[str] = "no_learning"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "give the sampler one weight per row: WeightedRandomSampler(class_weights[labels], num_samples=len(labels))",
    )
    proved_by: ClassVar[str] = "data/kiln_defects"

    times: float = 2.0  # rows drawn in a pass for each weight (ours: a subset drawn once may be meant)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each loader once."""
        for fact in window.new(LoaderSeen):
            weights, draws, length = fact.weights, fact.draws, fact.length
            if not fact.trains or not weights or not length or weights >= length or (draws or 0) < self.times * weights:
                continue
            made = fact.sampler_frame or fact.frame
            at = f" ({file_line(made)})" if made is not None else ""
            yield self.finding(
                window,
                "warning",
                f"the WeightedRandomSampler of {fact.dataset}{at} has {weights} weights for {length} rows, so rows "
                f"{weights}..{length - 1} are never drawn; expected one weight per row. Index the weights with the "
                "labels.",
                ref=fact.ref,
                place=Place(frame=made, symptom_frame=fact.frame),
                weights=weights,
                rows=length,
            )
