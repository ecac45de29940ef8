"""How many batches does the loop skip?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.skipped_batches import LAST, SkippedBatches
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class SkipBudget(Check, frozen=True):
    """More batches are skipped than a few accidents would need.

    What it catches
        A guard such as `if not torch.isfinite(loss): continue`, a limit on the loss or the gradient norm, or a
        GradScaler, that skips batch after batch.
    Why it matters
        Skipping is a stopgap: PaLM skipped 200 to 500 batches at each of some 20 spikes. What is skipped again and
        again is never learned, and the reason (bad samples, a limit that the run has outgrown, overflow) stays.
    How it decides
        Batches of a training loader that went through the model in training mode with a graph, and of which no update
        came before the next batches of the same pass were used: without a backward, with gradients that were cleared,
        or skipped by a scaler after its first good update. More than `share` of the last 10,000 batches and at least
        `least`. Losses that are added up over batches (seen in the graph), gradient accumulation, evaluations and
        passes without any update do not count. Above `design` it is a note: a loop that skips half of its batches is
        made so.
    What to do
        Look at the samples of the skipped batches; then at the limit of the guard. Clean the data, clip the gradient,
        lower the learning rate.
    Example
        step 412, rank 0: 24 of the last 436 batches (5.5%) were skipped and did not reach the update (train.py:38), the
        first before step 18, the last before step 411; expected at most 0.5%. Samples 97, 311 came in skipped batches
        only: look at them.
    """

    needs: ClassVar[tuple[type[SkippedBatches]]] = (SkippedBatches,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "batches_skipped"
    confidence: ClassVar[float] = 0.7
    remedies: ClassVar[tuple[str, ...]] = (
        "look at the samples of the skipped batches and clean the data",
        "clip the gradient instead of skipping: torch.nn.utils.clip_grad_norm_(parameters, 1.0)",
        "raise the limit of the guard, or make it relative to the last losses",
    )
    suspects: ClassVar[tuple[str, ...]] = ("lr-too-high", "exploding-gradients")
    proved_by: ClassVar[str] = "rollback/weighed_in_grams"

    share: float = 0.005  # of the last 10,000 batches (ours; PaLM skipped 200 to 500 after each of some 20 spikes)
    least: int = 20  # batches (ours: the number of PaLM's spikes)
    design: float = 0.5  # of the batches; above it skipping is what the loop is for: mining of hard samples (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once, when the budget is spent."""
        fact = window.last(SkippedBatches)
        memory = window.memory(self)
        if fact is None or memory.get("told") or not window.new(SkippedBatches):
            return
        share = fact.skipped / fact.batches
        if fact.skipped < self.least or share <= self.share:
            return
        memory["told"] = True
        yield self.describe(window, fact, share)

    def describe(self, window: Window, fact: SkippedBatches, share: float) -> Finding:
        """How many, from when to when, and with which samples."""
        scaler = f" ({fact.scaler} of them by the GradScaler)" if fact.scaler else ""
        last = f"the last {fact.batches}" if fact.batches < LAST else "the last 10,000"
        if fact.never_used:
            said = f"Samples {listed(fact.never_used)} came in skipped batches only: look at them."
        elif fact.samples:
            said = f"Look at the samples of the first ones ({listed(fact.samples)}), then at the limit of the guard."
        else:
            said = "Look at their samples, then at the limit of the guard."
        return self.finding(
            window,
            "note" if share > self.design else "warning",
            f"{fact.skipped} of {last} batches ({share:.1%}) were skipped{scaler} and did not reach the "
            f"update{spot(fact.frame)}, the first before step "
            f"{fact.first}, the last before step {fact.last}; expected at most {self.share:.1%}. {said}",
            ref=fact.ref,
            place=Place(frame=fact.frame, sample_index=fact.never_used or None),
            share=share,
            skipped=fact.skipped,
        )


def listed(indices: tuple[int, ...]) -> str:
    """Format the first eight of these indices."""
    return ", ".join(map(str, indices[:8])) + (" ..." if len(indices) > 8 else "")
