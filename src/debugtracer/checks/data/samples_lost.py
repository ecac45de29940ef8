"""Does every sample of a batch reach its tensors?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.lost_samples import LostSamples
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class SamplesLost(Check, frozen=True):
    """A collate function keeps the first sample of a batch and loses the others.

    What it catches
        A processor that takes a flat list of images for those of one text: `zip(images, texts)` ends after the first.
        `batch[0]` where the batch holds several samples; rows that stay empty but for the first.
    Why it matters
        Of 16 samples one is trained on, the epoch takes as long as ever, and the loss falls.
    How it decides
        Only where the collate function is the program's own. The samples of a first batch are fetched once more, and
        collated again with one of them exchanged at a time, on copies. A tensor of two dimensions or more changes with
        the first sample and with none of the others that were tried. The same samples make the same batch, so nothing
        was drawn; no tensor is of another sample alone, so it is no list of samples. A tensor that changes with no
        sample (positions, a mask) is meant for all.
    What to do
        Hand each sample's parts over together, and compare the rows of each tensor with the samples.
    Example
        step 0, rank 0: of the 16 samples of a batch only the first changes batch['input_ids'] (1 x 38) and
        batch['labels'] (5 others exchanged), and all change batch['pixel_values']; expected a part of each sample. See
        how the collate function puts them together.
    """

    needs: ClassVar[tuple[type[LostSamples]]] = (LostSamples,)
    kind: ClassVar[str] = "data_rows_left_out"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "hand the parts of each sample over together: a list of images for each text",
        "compare the rows of each tensor with len(samples) in the collate function",
    )
    proved_by: ClassVar[str] = "data/market_stalls"

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield one finding for each dataset."""
        for fact in window.new(LostSamples):
            shape = " x ".join(str(size) for size in fact.shape)
            more = f" and {', '.join(fact.paths[1:3])}" if len(fact.paths) > 1 else ""
            whole = f", and all change {fact.whole[0]}" if fact.whole else ""
            yield self.finding(
                window,
                "warning",
                f"of the {fact.samples} samples of a batch only the first changes {fact.paths[0]} ({shape}){more} "
                f"({fact.tried} others exchanged){whole}; expected a part of each sample. See how the collate function "
                "puts them together.",
                ref=fact.ref,
                place=Place(frame=fact.frame or fact.loader_frame, symptom_frame=fact.loader_frame),
                samples=fact.samples,
                tried=fact.tried,
            )
