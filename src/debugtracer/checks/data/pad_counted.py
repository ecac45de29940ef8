"""Does the loss count padding at the end of the targets?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.padded_targets import PaddedTargets
from debugtracer.trace.file_line import file_line
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class PadCounted(Check, frozen=True):
    """Rows of targets end in the padding id, and the loss counts it as a class to predict.

    What it catches
        `CrossEntropyLoss()` without `ignore_index` over padded sequences, in a loop that builds its batches itself;
        `ignore_index` set to the padding of another vocabulary.
    Why it matters
        The model is taught to predict padding: the loss looks better than it is, and its gradient is mostly about
        padding.
    How it decides
        Targets of shape (rows, positions): half of the rows or more end in the same id, at different places, and nine
        of ten hold it nowhere else. The program itself says that this id is padding: an Embedding has it as
        `padding_idx`, or token ids are compared with it; or the loss ignores an id that none of the targets is. The
        loss neither ignores it nor weighs it with 0, and has a reduction.
    What to do
        `CrossEntropyLoss(ignore_index=PAD)`.
    Example
        step 0, rank 0: 74 % of the targets of cross_entropy are the id 0 at the end of their rows, which train.py:33
        treats as padding; expected that the loss ignores them. Set ignore_index=0.
    """

    needs: ClassVar[tuple[type[PaddedTargets]]] = (PaddedTargets,)
    kind: ClassVar[str] = "label_mask_wrong"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = (
        "let the loss ignore the padding: CrossEntropyLoss(ignore_index=PAD)",
        "or set the targets at padded positions to -100",
    )
    proved_by: ClassVar[str] = "data/ledger_codes"

    least: float = 0.05  # of the targets (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge each loss once."""
        told = window.memory(self)
        for fact in window.new(PaddedTargets):
            share = float(fact.share)
            if share < self.least or fact.key() in told:
                continue
            told[fact.key()] = True
            known = file_line(fact.known_frame) if fact.known_frame is not None else fact.known_by
            absent = f"while ignore_index={fact.ignores_none} leaves out nothing"
            why = f"which {known} treats as padding" if known else absent
            yield self.finding(
                window,
                "warning",
                f"{100 * share:.0f} % of the targets of {fact.loss} are the id {fact.pad} at the end of their rows, "
                f"{why}{end_of(fact)}; expected that the loss ignores them. Set ignore_index={fact.pad}.",
                ref=fact.ref,
                place=Place(
                    frame=fact.built or fact.frame,
                    symptom_frame=fact.frame if fact.built else fact.known_frame,
                    module=fact.module,
                ),
                share=share,
            )


def end_of(fact: PaddedTargets) -> str:
    """What is left out in place of the padding, where it is the end of the texts."""
    if fact.ignores_end is None:
        return ""
    return (
        f", and ignore_index={fact.ignores_end} leaves out the id that ends each text: the model never learns to stop"
    )
