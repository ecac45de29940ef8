"""Does a model that predicts the next token see it?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.function_test import FunctionTest
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

BY_PLACE = (
    "pad on the left alone, or cut off on the right what a padding on both sides has added",
    "let position t be made of inputs up to t: no bidirectional layer, no flip, no mean over the whole text",
)
LATE = (
    "let the mask hide the next position too: torch.triu(..., diagonal=1), torch.tril(..., diagonal=0)",
    "shift by one: input tokens[:-1], targets tokens[1:] along time",
)
NAMED = {"__getitem__": "an index"}


class FutureLeak(Check, frozen=True):
    """Outputs depend on tokens that come later, and these are the targets.

    What it catches
        A causal mask that is missing, inverted (True means blocked in MultiheadAttention and kept in
        scaled_dot_product_attention) or off by one; a bidirectional recurrent layer or a centred convolution in a
        language model, or one cut off on the wrong side; targets that are not shifted at all.
    Why it matters
        The model copies the answer: the training loss is wonderful and generation is useless.
    How it decides
        The targets of the first cross-entropy are the input tokens shifted by one, at all positions or at the last
        ones. On a copy of the model in evaluation mode, the tokens from the middle on are changed; outputs before it
        that have a target must not change. Two runs with equal input were equal bit for bit. Prefix positions without a
        target may look ahead. Where no attention does it, the line is that of the first function whose output changes
        before the middle. Or the targets are the input tokens at their own positions, and the output at a position
        depends on its token though not on later ones: a model that reads from left to right is asked to copy. Where the
        model shifts its input itself, also with time first: one token in the middle is changed, and reaches its own
        output and those of a few positions before it, but none further back: the mask begins too late.
    What to do
        Pass `is_causal=True`, or a mask that hides the positions after each one. Pad a convolution on the left alone.
    Example
        step 0, rank 0: outputs at positions before 16 change by 0.41 standard deviations when tokens from 16 on change
        (first in blocks.0.attn, line 33), and these are the targets; expected no change. Add or repair the causal mask.
    """

    needs: ClassVar[tuple[type[FunctionTest]]] = (FunctionTest,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "label_leak"
    exact: ClassVar[bool] = True
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "pass is_causal=True to scaled_dot_product_attention, or a mask that hides later positions",
        "check the meaning of True: blocked in nn.MultiheadAttention, kept in scaled_dot_product_attention",
    )
    proved_by: ClassVar[str] = "model/tokens_ahead"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The trial is made once a root."""
        for fact in window.new(FunctionTest):
            if fact.trial == "later_tokens" and fact.changed:
                line = f", line {fact.frame.line}" if fact.frame else ""
                mask = made_at(fact.made).replace(", made", "; its mask is made")
                name = f" by {NAMED.get(fact.function, fact.function)}" if fact.function else ""
                where = f" (first in {fact.module or fact.root}{line}{name})"
                todo = "Let no position see those after it" if fact.function else "Add or repair the causal mask"
                yield self.finding(
                    window,
                    "error",
                    f"outputs at positions before {fact.position} change by {fact.size:.2g} standard deviations when "
                    f"tokens from {fact.position} on change"
                    f"{where}, and these are the targets{mask}; expected no change. {todo}.",
                    ref=fact.ref,
                    place=Place(
                        module=fact.module, frame=fact.made[0] if fact.made else fact.frame, symptom_frame=fact.frame
                    ),
                    remedies=BY_PLACE if fact.function else self.remedies,
                )
            if fact.trial == "late_mask" and fact.changed:
                yield self.late(window, fact)
            if fact.trial == "own_token" and fact.changed:
                yield self.finding(
                    window,
                    "error",
                    "the target of each position is the input token of that position, and the output at "
                    f"{fact.position} depends on it ({fact.size:.2g} standard deviations) but not on later ones"
                    f"{made_at(fact.made).replace(', made', '; the targets are made')}; "
                    "expected the next token as target. Shift the targets by one.",
                    ref=fact.ref,
                    place=Place(frame=fact.made[0] if fact.made else fact.frame, symptom_frame=fact.frame),
                    remedies=("shift by one: input tokens[:, :-1], targets tokens[:, 1:]",),
                )

    def late(self, window: Window, fact: FunctionTest) -> Finding:
        """A model that shifts its input itself, and yet sees what it is to say."""
        line = f", line {fact.frame.line}" if fact.frame else ""
        where = f" (first in {fact.module or fact.root}{line})"
        mask = made_at(fact.made).replace(", made", "; its mask is made")
        before = f", and so do the {fact.length} outputs before" if fact.length else ""
        if fact.length == 1:
            before = ", and so does the output before"
        return self.finding(
            window,
            "error",
            f"the target of each position is the input token of that position, and the output at {fact.position} "
            f"changes with it by {fact.size:.2g} standard deviations{before}{where}{mask}; expected an output that "
            "depends on the tokens before it alone. Hide one position more, or shift the input by one.",
            ref=fact.ref,
            place=Place(module=fact.module, frame=fact.made[0] if fact.made else fact.frame, symptom_frame=fact.frame),
            remedies=LATE,
        )
