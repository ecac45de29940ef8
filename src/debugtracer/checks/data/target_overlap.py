"""Does a forecast begin before its input ends?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.function_test import FunctionTest
from debugtracer.trace.finding import Finding
from debugtracer.trace.made_at import made_at
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

BY_DECODER = (
    "give the decoder the known head and zeros: torch.cat([y[:, :known], torch.zeros_like(y[:, known:])], 1)",
    "or shift what it is given by one position, and let no position see those after it",
)


class TargetOverlap(Check, frozen=True):
    """The values to be predicted are in the window that the model is given.

    What it catches
        A target that begins a step early (`series[end - 1 : ...]`), or with the known head that is meant for a decoder
        (`label_len`): the answer is the end of the input. A decoder that is given what it is to predict behind that
        head, where zeros were meant.
    Why it matters
        The model copies what it was given and learns no forecast: the loss is wonderful, and the values that really
        come next are guessed.
    How it decides
        The positions of the first target of a loss of numbers are the last ones of the input bit for bit, in every row
        of the batch. On a copy of the model in evaluation mode one of them is changed: the output at that position
        changes. A model that predicts the next value from those before it is silent, and so are one that gives its
        whole input back and a loss of numbers beside another. Where an attention draws which positions it looks at, it
        is run with the same draws.
    What to do
        Begin the target where the input ends: `series[end : end + horizon]`. Give a decoder the known head and zeros.
    Example
        step 0, rank 0: 24 of 24 positions of the target are positions 72 to 95 of the input, made at data.py:31, and
        the output depends on them; expected a target that begins after them. Begin it where the input ends.
    """

    needs: ClassVar[tuple[type[FunctionTest]]] = (FunctionTest,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "label_leak"
    exact: ClassVar[bool] = True
    confidence: ClassVar[float] = 0.95
    remedies: ClassVar[tuple[str, ...]] = (
        "begin the target where the input ends: series[end : end + horizon]",
        "compare with the last positions of a target that has a head of known values: y[:, -horizon:]",
    )
    proved_by: ClassVar[str] = "data/weir_forecast"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The trial is made once a root."""
        for fact in window.new(FunctionTest):
            if fact.trial == "target_window" and fact.changed and fact.position is not None:
                yield self.finding(
                    window,
                    "error",
                    f"{fact.common} of {fact.length} positions of the target are {positions(fact)} of {wording(fact)}",
                    ref=fact.ref,
                    place=Place(frame=fact.made[0] if fact.made else fact.frame, symptom_frame=fact.frame),
                    remedies=BY_DECODER if fact.argument else (),
                )


def positions(fact: FunctionTest) -> str:
    """Say which part of the input the target is."""
    first = fact.position or 0
    return f"positions {first} to {first + fact.common - 1}" if fact.common > 1 else f"position {first}"


def wording(fact: FunctionTest) -> str:
    """The rest of the message, for an input of its own or for the past beside what a decoder is given."""
    if fact.argument:
        return (
            f"the argument {fact.argument} of {fact.root}{made_at(fact.made)}, and the output there depends on them; "
            "expected zeros in their place. Give it the known values before them alone."
        )
    return (
        f"the input{made_at(fact.made)}, and the output depends on them; expected a target that begins after them. "
        "Begin it where the input ends."
    )
