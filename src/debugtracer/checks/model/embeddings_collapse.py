"""Do the embeddings that a loss compares still tell samples apart?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.spikes.monitor import monitor
from debugtracer.trace.facts.embedding_spread import EmbeddingSpread
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window


class EmbeddingsCollapse(Check, frozen=True):
    """The loss falls to nothing while the outputs that it compares become one point.

    What it catches
        A contrastive loss whose negative term has the wrong sign or is cut off (`relu(d - margin)` for
        `relu(margin - d)`), pairs of which all are alike, a joint embedding with nothing that keeps samples apart.
    Why it matters
        One point for all samples costs nothing. The curve looks like a success, and the embedding tells nothing.
    How it decides
        In inspected steps the outputs of a model that is called twice or more in one step, all for the same loss, are
        added up: their standard deviation over the rows of all calls is `apart` or less of what it was in the first
        look, and of their size; as a share of their size it has fallen as much. The last block of 16 losses has a
        median of `fallen` or less of the first one, and all that in `looks` looks running. The inputs differ. Silent
        with several optimizers, and for outputs of one number.
    What to do
        Look at the term that is to keep different samples apart: its sign, its margin, its pairs.
    Example
        step 200, rank 0: the outputs of EncoderMLP (modules.py:98) in 2 calls of a step, 128 rows, are 0.049 times as
        far apart as in step 0, and the loss went from 0.14 to 0.00012; expected samples that stay apart. Look at the
        term that is to keep them apart.
    """

    needs: ClassVar[tuple[type | str, ...]] = (EmbeddingSpread, LOSS, Wiring)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.65
    remedies: ClassVar[tuple[str, ...]] = (
        "look at the term that is to keep different samples apart: relu(margin - distance) pushes, relu(distance - "
        "margin) pulls",
        "print the standard deviation of the outputs over a batch beside the loss",
    )
    proved_by: ClassVar[str] = "model/gull_rings"

    apart: float = 0.1  # of the spread in the first look (ours: others stay above 0.5)
    fallen: float = 0.02  # of the first losses (ours)
    looks: int = 2  # running (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Compare each look with the first one of the same line; said once a line."""
        memory, level = window.memory(self), monitor(window).level
        for fact in window.new(EmbeddingSpread):
            first, count = memory.get(fact.key(), (fact, 0))
            wiring = window.last(Wiring)
            spread, began = as_float(fact.apart), as_float(first.apart)
            size = min(as_float(fact.size), as_float(fact.size) / as_float(first.size) * began) if began > 0 else 0.0
            low = spread <= self.apart * min(began, size)
            nothing = bool(level.medians) and 0 <= level.now <= self.fallen * level.first
            alone = wiring is None or len(wiring.optimizers) == 1
            count = count + 1 if low and nothing and alone and began > 0 else 0
            memory[fact.key()] = first, count
            if count == self.looks:
                yield self.describe(window, first, fact)

    def describe(self, window: Window, first: EmbeddingSpread, fact: EmbeddingSpread) -> Finding:
        """Build the finding with both spreads and both levels of the loss."""
        level, share = monitor(window).level, as_float(fact.apart) / as_float(first.apart)
        return self.finding(
            window,
            "warning",
            f"the outputs of {fact.root}{spot(fact.frame)} in {fact.calls} calls of a step, {fact.rows} rows, are "
            f"{share:.2g} times as far apart as in step {first.ref.step}, and the loss went from "
            f"{level.first:.2g} to {level.now:.2g}; expected samples that stay apart. Look at the term that is to keep "
            "them apart.",
            ref=fact.ref,
            place=Place(frame=fact.frame),
            share=share,
        )
