"""Is the target of a language model the next token?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.function_test import FunctionTest
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window


class TargetShift(Check, frozen=True):
    """A model that reads from left to right is asked for a token further on than the next.

    What it catches
        Targets that are shifted twice: `data[i + 2 : ...]`, labels shifted by the program and again by the model.
    Why it matters
        The loss falls, a little less far; what is generated skips every other token.
    How it decides
        The targets of the first cross-entropy are the input tokens two to four places on (95 % of them), and are
        neither the tokens themselves nor the next ones. On a copy of the model in evaluation mode the outputs do not
        depend on later tokens. Heads that predict several tokens on purpose come after one that predicts the next.
    What to do
        Shift by one, at one place.
    Example
        step 0, rank 0: the target of each position is the token 2 places on (made at train.py:14); expected the next
        one. Shift the targets by one.
    """

    needs: ClassVar[tuple[type[FunctionTest]]] = (FunctionTest,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "targets_misaligned"
    symptom: ClassVar[str] = "silent"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "shift by one: input tokens[:, :-1], targets tokens[:, 1:]",
        "where the model shifts its labels itself, give it the tokens unshifted",
    )
    proved_by: ClassVar[str] = "model/river_names"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The trial is made once a root."""
        for fact in window.new(FunctionTest):
            if fact.trial == "shifted_token" and fact.changed:
                yield self.finding(
                    window,
                    "warning",
                    f"the target of each position is the token {fact.position} places on{made_at(fact.made)}; expected "
                    f"the next one. {advice(fact)}",
                    ref=fact.ref,
                    place=Place(frame=fact.made[0] if fact.made else fact.frame, symptom_frame=fact.frame),
                    remedies=self.remedies[::-1] if fact.loss_of else (),
                )


def advice(fact: FunctionTest) -> str:
    """What to do: a model that takes labels shifts them itself."""
    if fact.loss_of:
        return f"{fact.loss_of} shifts its labels itself: give it the tokens as they are."
    return "Shift the targets by one."
