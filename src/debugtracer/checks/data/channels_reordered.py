"""Do the channels of an evaluation stand in the order of training?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.channel_order import ChannelOrder
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

SHOWN = 3  # channels named


class ChannelsReordered(Check, frozen=True):
    """The evaluation gives a model its channels, or its columns, in another order than training.

    What it catches
        Pictures that are converted from BGR to RGB in one of two datasets; columns of a table that another file, or
        another list of names, has in another order.
    Why it matters
        Each weight meets another quantity than the one that it was trained for. Training looks perfect.
    How it decides
        Means and deviations over samples are kept for each channel of what a model is given with gradients (in
        inspected steps) and without. At least two channels differ by half a deviation of the samples (columns of a
        table: by one; those of 0 and 1 are left alone) and six standard errors, and each of them is like another one of
        those in training, no two like the same: mean and deviations together within half a deviation (columns: 0.3) and
        what chance adds, and less than half as far as from its own. Pictures may have been normalised with the numbers
        of each place, so deviations alone are enough there. Their channels go together (correlation of the means) as
        those do that they are like. Columns of which one is what the other leaves of a whole are left alone: one grew.
        A note where the evaluation has no loader of its own: to turn channels there may be a test of the model.
    What to do
        Let both datasets convert alike: one function, one list of column names.
    Example
        step 200, rank 0: the evaluation gives Net (train.py:60) channel 0 with mean 0.21 (in training 0.63), as channel
        2 there, and channel 2 as channel 0; expected one order. Convert both datasets alike.
    """

    needs: ClassVar[tuple[type[ChannelOrder]]] = (ChannelOrder,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "axes_mixed"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "convert both datasets with one function: the same order of colours, the same list of columns",
        "print the mean of each channel of one batch of both",
    )
    proved_by: ClassVar[str] = "data/moored_boats"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The observer tells each model once."""
        for fact in window.new(ChannelOrder):
            word = "channel" if fact.pictures else "column"
            (place, like), *rest = list(zip(fact.places, fact.alike, strict=True))[:SHOWN]
            more = "".join(f", and {word} {other} as {word} {as_} there" for other, as_ in rest)
            yield self.finding(
                window,
                "warning" if fact.loaded else "note",
                f"the evaluation gives {fact.root}{spot(fact.called)} {word} {place} with mean "
                f"{as_float(fact.evaluated[0]):.3g} (in training {as_float(fact.trained[0]):.3g}), as {word} {like} "
                f"there{more}, {len(fact.places)} of {fact.channels} in all; expected one order. Convert both datasets "
                "alike.",
                ref=fact.ref,
                place=Place(frame=fact.frame or fact.called, symptom_frame=fact.called),
                apart=as_float(fact.apart),
            )
