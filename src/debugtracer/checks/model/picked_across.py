"""Do the classes compete from which the target is picked?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.picked_scores import PickedScores
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class PickedAcross(Check, frozen=True):
    """The target is picked along another dimension than the one that log_softmax has normalised.

    What it catches
        `log_softmax(scores, dim=0)` and then `gather(1, target)`, or `logp[rows, target]`: a negative log-likelihood
        written by hand whose probabilities sum to 1 over the batch.
    Why it matters
        The samples compete for a class and not the classes for a sample. The loss falls to a floor and stays; the
        accuracy looks plausible.
    How it decides
        Autograd says that what is picked from is the output of a log_softmax, or a view of it, and one element is
        picked for every place of the other dimensions. Along the dimension of the pick the probabilities do not sum to
        1 (off by more than `off` somewhere), in `calls` inspected calls of the line. Picks on the diagonal, which
        belong to both dimensions (a contrastive loss), are left alone.
    What to do
        Normalise the dimension of the classes: dim=1, or dim=-1.
    Example
        step 0, rank 0: log_softmax (few_shot.py:48) normalises dimension 0 of 25, and gather (line 50) picks the target
        along dimension 2, where the probabilities sum to 0.11 to 0.43 and not to 1, in 3 of 3 calls; expected one
        dimension for both. Normalise the classes: dim=-1.
    """

    needs: ClassVar[tuple[type[PickedScores]]] = (PickedScores,)
    kind: ClassVar[str] = "loss_misuse"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "normalise the dimension of the classes: log_softmax(scores, dim=-1)",
        "or hand the scores to cross_entropy, which takes dimension 1",
    )
    proved_by: ClassVar[str] = "model/bells_by_row"

    calls: int = 3
    """Calls of the same line that must agree (ours)."""
    off: float = 0.01
    """Of the sum of 1 (ours: float16 rounds to 1e-3)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once for each line."""
        memory = window.memory(self)
        for fact in window.new(PickedScores):
            low, high = as_float(fact.low), as_float(fact.high)
            seen = memory.setdefault(fact.key(), [])
            if max(abs(low - 1), abs(high - 1)) <= self.off:
                memory[fact.key()] = []
                continue
            seen.append(fact)
            if len(seen) == self.calls:
                yield self.describe(window, seen)

    def describe(self, window: Window, seen: list[PickedScores]) -> Finding:
        """Build the finding with both dimensions."""
        fact = seen[0]
        low, high = min(as_float(f.low) for f in seen), max(as_float(f.high) for f in seen)
        picked = f" ({file_line(fact.frame)})" if fact.frame else ""
        return self.finding(
            window,
            "warning",
            f"log_softmax{spot(fact.maker.frame)} normalises dimension {fact.maker.dim} of {fact.maker.size}, and "
            f"{fact.function.strip('_')}{picked} picks the target along dimension {fact.dim}, where the probabilities "
            f"sum to {low:.2g} to {high:.2g} and not to 1, in {len(seen)} of {len(seen)} calls; expected one dimension "
            "for both. Normalise the classes: dim=-1.",
            ref=fact.ref,
            place=Place(op="aten::_log_softmax", frame=fact.maker.frame, symptom_frame=fact.frame),
            low=low,
            high=high,
        )
