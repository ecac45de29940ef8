"""Are the two views of a sample different?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.equal_views import EqualViews
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class ViewsEqual(Check, frozen=True):
    """A contrastive loss is given the same view of each sample twice.

    What it catches
        `[transform(x)] * 2` where the transform was to be drawn twice; a transform that draws nothing.
    Why it matters
        The partner of each sample is found because it is the same values, so the loss falls to nothing and the features
        are those of an untrained network.
    How it decides
        In `looks` inspected steps the two halves of the batch (or its neighbours, or the batches of two calls) are
        equal bit for bit, so are the outputs of the model in training mode, the samples differ from one another, and
        all outputs are compared with all, still equal: noise that is put on the outputs makes views of them. Of two
        calls the comparisons must go into `cross_entropy`, `log_softmax` or `logsumexp`, too: the kernel of a Gaussian
        process asks for the same features twice on purpose.
    What to do
        Call the transform once for each view.
    Example
        step 2, rank 0: ResNetSimCLR (simclr.py:73) is given 16 samples twice, with the same values in both views, in 3
        of 3 steps looked at; expected two views that differ. Call the transform once for each view.
    """

    needs: ClassVar[tuple[type[EqualViews]]] = (EqualViews,)
    kind: ClassVar[str] = "label_leak"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "call the random transform once for each view: [transform(x) for _ in range(2)]",
        "check that the transform draws something: two calls on one sample must differ",
    )
    proved_by: ClassVar[str] = "data/leaf_pairs"

    looks: int = 3  # inspected steps (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each model; said once."""
        memory = window.memory(self)
        for fact in window.new(EqualViews):
            memory[fact.root] = memory.get(fact.root, 0) + 1
            if memory[fact.root] != self.looks:
                continue
            yield self.finding(
                window,
                "warning",
                f"{fact.root}{spot(fact.frame)} is given {fact.samples} samples twice, with the same values in both "
                f"views, in {self.looks} of {self.looks} steps looked at; expected two views that differ. Call the "
                "transform once for each view.",
                ref=fact.ref,
                place=Place(frame=fact.frame),
                samples=fact.samples,
            )
