"""How much of the batches is padding?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import at_loader
from debugtracer.trace.facts.batch_content import BatchProfile, LeafProfile
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import Window

LEAST = 20  # batches that were looked at (ours)


class PaddingWaste(Check, frozen=True):
    """Much of each batch is padding that shorter batches would not need.

    What it catches
        Texts padded to a fixed length in the dataset instead of to the longest of their batch.
    Why it matters
        Time and memory go into positions that count for nothing.
    How it decides
        Over the last batches looked at, more than `waste` of the positions are padding and lengths differ by more than
        `spread` tokens. The message says what padding to the longest row of each batch would save, and what is left for
        batches of like lengths. Always a note.
    What to do
        Pad in collate_fn to the longest of the batch (`DataCollatorWithPadding`), and group samples of like lengths.
    Example
        step 99, rank 0: 71 % of batch[0] of Reviews is padding (longest 61 of 128 tokens in a batch, shortest 4);
        expected below 30 %. Padding to the longest of each batch saves 52 % of the positions, batches of like lengths
        most of the other 19 %.
    """

    needs: ClassVar[tuple[type, ...]] = (BatchProfile,)
    kind: ClassVar[str] = "data_padding_waste"
    symptom: ClassVar[str] = "none"
    remedies: ClassVar[tuple[str, ...]] = (
        "pad in collate_fn to the longest of the batch",
        "group samples of like lengths into batches",
    )
    proved_by: ClassVar[str] = "data/reviews_fixed_length"

    waste: float = 0.3  # share of the positions (ours)
    saving: float = 0.1  # share of the positions that padding to the longest row of each batch would save (ours)
    spread: float = 32.0  # tokens between the longest and the shortest row (a common rule of thumb)

    def judge(self, window: Window) -> Iterator[Finding]:
        """A note for a tensor, once."""
        told: set[tuple[int, str]] = window.memory(self).setdefault("told", set())
        for fact in window.new(BatchProfile):
            for leaf in fact.leaves:
                if fact.looked < LEAST or not leaf.pad_share or (key := (fact.loader.number, leaf.path)) in told:
                    continue
                self.measured(window, "share of positions that are padding", leaf.pad_share, self.waste)
                saved = 1.0 - (leaf.longest_share or 1.0)
                # batches already padded to their longest row must be more than half padding
                pays = saved > self.saving or leaf.pad_share > 0.5
                if leaf.pad_share > self.waste and leaf.longest - leaf.shortest > self.spread and pays:
                    told.add(key)
                    yield self.describe(window, fact, leaf, leaf.pad_share, saved)

    def describe(self, window: Window, fact: BatchProfile, leaf: LeafProfile, share: float, saved: float) -> Finding:
        """Build the finding with the share of positions that would be saved."""
        return self.finding(
            window,
            "note",
            f"{100 * share:.0f} % of {leaf.path} of {fact.loader.dataset} is padding (longest {leaf.longest} of "
            f"{leaf.width} tokens in a batch, shortest {leaf.shortest}); expected below {100 * self.waste:.0f} %. "
            f"Padding to the longest of each batch saves {100 * saved:.0f} % of the positions, batches of like lengths "
            f"most of the other {100 * max(share - saved, 0.0):.0f} %.",
            ref=fact.ref,
            place=at_loader(fact.loader),
            pad_share=share,
            saved=saved,
        )
