"""Do padded positions count in the loss?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.data.wording import which
from debugtracer.trace.facts.batch_content import BatchOddity
from debugtracer.trace.facts.loss_call import LossCall
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class PadInLoss(Check, frozen=True):
    """Targets at padded positions are predicted like all others.

    What it catches
        `labels = input_ids.clone()` without -100 at the padding, a loss without `ignore_index` over padded tags.
    Why it matters
        The model is taught to predict padding; the loss looks better than it is, the more so the more padding there is.
    How it decides
        A padding mask beside token ids has zeros where another tensor of the same shape holds no negative label, and a
        loss over classes with reduction mean or sum takes a tensor of the batch as its target, ignores none of it and
        counts at least all padded positions. A loss by position (reduction none) may be masked afterwards and is left
        alone.
    What to do
        `labels[attention_mask == 0] = -100`.
    Example
        step 0, rank 0: 41 % of batch['labels'] of batch 0 of Notes (train.py:29) is padding by its mask, and
        cross_entropy ignores none of it; expected
        -100 there. Set labels[attention_mask == 0] = -100.
    """

    needs: ClassVar[tuple[type, ...]] = (BatchOddity, LossCall)
    kind: ClassVar[str] = "label_mask_wrong"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "labels[attention_mask == 0] = -100",
        "cross_entropy(..., ignore_index=tokenizer.pad_token_id), unless it is the end token",
    )
    proved_by: ClassVar[str] = "data/notes_padded"

    least_share: float = 0.02  # of the positions that are padding (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """A warning once for a loader."""
        told = window.memory(self)
        for fact in [f for f in window.seen(BatchOddity) if f.what == "pad-labels" and f.training]:
            share = as_float(fact.value)
            call = next(
                (
                    c
                    for c in reversed(window.seen(LossCall))
                    if c.ref.iteration == fact.ref.iteration and takes_all(c, fact)
                ),
                None,
            )
            if call is None or share < self.least_share or fact.loader.number in told:
                continue
            told[fact.loader.number] = True
            yield self.finding(
                window,
                "warning",
                f"{100 * share:.0f} % of {fact.path} of {which(fact.batch, fact.loader)} is padding by its mask, and "
                f"{call.loss} ignores none of it; "
                "expected -100 there. Set labels[attention_mask == 0] = -100.",
                ref=fact.ref,
                place=Place(frame=call.frame, module=call.module),
                share=share,
            )


def takes_all(call: LossCall, fact: BatchOddity) -> bool:
    """True for a loss over classes that takes all targets of the batch (or all but the first of each row), none
    ignored."""
    rows = max(len(fact.rows), 1)
    return (
        call.classes is not None
        and call.reduction in ("mean", "sum")
        and call.ignored == 0
        and call.counted in (fact.of, fact.of - rows)
    )
