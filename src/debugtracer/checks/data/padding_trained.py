"""Does the loss train the positions that count, or their padding?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.trained_padding import TrainedPadding
from debugtracer.trace.file_line import file_line, spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class PaddingTrained(Check, frozen=True):
    """The mask of a loss keeps the padding and drops all that is not.

    What it catches
        `mask = targets == PAD` times the loss of each position, or as its index, where `!=` was meant; labels at which
        all but the padding is set to -100.
    Why it matters
        The model learns to answer padding with the padding id. The loss falls to 0 within a few steps, and nothing
        else was learnt.
    How it decides
        In `looks` inspected steps the gradient that comes back to the output of the model is exactly 0 at all positions
        but some at one end of the rows, not as many in each row; there all targets are one and the same value, which
        stands nowhere else, and at least two others stand where no gradient comes. However the loss is masked, this is
        what it trains. A single position of each row, as of a class token, is another thing, and a model that is called
        twice in a step is left alone.
    What to do
        Turn the mask round: `mask = targets != PAD`.
    Example
        step 0, rank 0: the gradient of cross_entropy (train.py:46) comes to 38 % of the positions that Tagger answers,
        and the targets of all these are the padding 0, in 2 looks; at the others, with 11 different targets, it is
        exactly 0; expected the opposite. Turn the mask round (train.py:47).
    """

    needs: ClassVar[tuple[type[TrainedPadding]]] = (TrainedPadding,)
    kind: ClassVar[str] = "label_mask_wrong"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "keep what is no padding: mask = targets != PAD",
        "or let the loss leave it out: cross_entropy(..., ignore_index=PAD)",
    )
    proved_by: ClassVar[str] = "data/pilot_reports"

    looks: int = 2  # inspected steps (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Count the looks at each model; said once."""
        memory = window.memory(self)
        for fact in window.new(TrainedPadding):
            looks = memory.setdefault(fact.root, {})
            if len(looks) >= self.looks:
                continue
            looks[fact.ref.step] = fact
            if len(looks) == self.looks:
                yield self.describe(window, next(iter(looks.values())))

    def describe(self, window: Window, fact: TrainedPadding) -> Finding:
        """Build the finding at the line that compares with the padding, else at that of the loss."""
        kept = as_float(fact.kept)
        loss = f"{fact.loss}{spot(fact.loss_frame)}" if fact.loss else "the loss"
        pad = f"{as_float(fact.value):g}"
        turn = f" ({file_line(fact.compared)})" if fact.compared is not None else ""
        return self.finding(
            window,
            "error",
            f"the gradient of {loss} comes to {kept:.0%} of the positions that {fact.root} answers, and the targets of "
            f"all these are the padding {pad}, in {counted(self.looks, 'look')}; at the others, with {fact.others} "
            f"different targets, it is exactly 0; expected the opposite. Turn the mask round{turn}.",
            ref=fact.ref,
            place=Place(frame=fact.compared or fact.loss_frame, symptom_frame=fact.loss_frame),
            kept=kept,
            others=float(fact.others),
        )
