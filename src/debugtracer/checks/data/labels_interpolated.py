"""Are the classes of a resized map classes that were there?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.resized_labels import ResizedLabels
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class LabelsInterpolated(Check, frozen=True):
    """A map of class ids is resized by weighing neighbouring ids, as if they were quantities.

    What it catches
        `F.interpolate(mask, mode="bilinear").long()`, `Image.resize` of a mask without `NEAREST`: between class 0 and
        class 4 come pixels of class 2.
    Why it matters
        Along every border and around small things the target is a class that is not in the picture. The loss falls all
        the same; these classes are learned wrong.
    How it decides
        The targets of a loss over classes are pixels of a map that was resized with a mode that weighs neighbours, and
        at a share of `least` of that map's pixels stands an id that the map it was made of does not have there: each id
        is resized alone in the same way to see where it reaches. Seen in the loop, or in samples that are fetched again
        where ids lie between those of their neighbours; there the ids may have other names since, pixel for pixel. Maps
        of two neighbouring ids and maps of one channel a class have no such pixels; ids that rise in steps of one, as
        depths do, are left alone.
    What to do
        `mode="nearest"` (PIL: `Image.NEAREST`) for labels; or resize one channel a class and take the largest.
    Example
        step 0, rank 0: interpolate with mode bilinear (data.py:20) resizes class ids, and 7.4 % of the pixels of the
        targets get one that stands nowhere near in the map they were made of (ids 1, 2, 3); expected ids that were
        there. Use mode nearest for labels.
    """

    needs: ClassVar[tuple[type[ResizedLabels]]] = (ResizedLabels,)
    kind: ClassVar[str] = "data_label_noise"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        'resize labels with mode="nearest" (Image.NEAREST): ids are names, not quantities',
        "or resize one channel a class and take the largest of them",
    )
    proved_by: ClassVar[str] = "data/allotment_plots"

    least: float = 0.002  # of the pixels (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding a line; the observer tells each once."""
        for fact in window.new(ResizedLabels):
            share = fact.stray / max(fact.pixels, 1)
            self.measured(window, "share of pixels with an id that was not there", share, self.least)
            if share < self.least:
                continue
            shown = ", ".join(map(str, fact.ids))
            yield self.finding(
                window,
                "warning",
                f"{fact.function} with mode {fact.mode}{spot(fact.frame)} resizes class ids, and {100 * share:.2g} % "
                f"of the pixels of the targets get one that stands nowhere near in the map they were made of (ids "
                f"{shown}); expected ids that were there. Use mode nearest for labels.",
                ref=fact.ref,
                place=Place(frame=fact.frame, symptom_frame=fact.loss_frame, sample_index=fact.samples or None),
                share=share,
            )
