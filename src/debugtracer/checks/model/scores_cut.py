"""Can the scores of a classifier be low, and far apart?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.loss_calls import by_line
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.loss_call import LossCall, Maker
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

BINARY = "binary_cross_entropy_with_logits"
REMEDY = "give {loss} the output of the last layer as it is, without {function}"
OPS = {"clip": "aten::clamp", "relu6": "aten::hardtanh"}


class ScoresCut(Check, frozen=True):
    """The scores of a classifier go through a function that cuts them at 0, or keeps them close together.

    What it catches
        A relu, or a sigmoid, tanh or narrow clamp, after the last layer before CrossEntropyLoss, before log_softmax and
        NLLLoss; a relu or tanh before BCEWithLogitsLoss.
    Why it matters
        A score below 0 becomes 0 and has no gradient: a row whose scores are all 0 teaches nothing, and a class whose
        score is always below is never learnt. Between bounds the softmax cannot be sure, and the loss has a floor.
    How it decides
        Autograd's graph says that the input of the loss, or of the log_softmax before it, is the output of such a
        function or a view of it; what is scaled, pooled or summed afterwards is left alone. In `calls` inspected calls
        of one line at least `share` of the scores are exactly 0 and none can be less; or both bounds are so close that
        the loss of hard labels stays above `floor` of log N whatever is learnt. Smoothed or soft labels ask for no more
        than that, and a softmax before the loss is model/loss-misuse.
    What to do
        Give the loss the output of the last layer as it is.
    Example
        step 0, rank 0: cross_entropy (train.py:31) is given the output of relu (train.py:17), so no score can be below
        0, and 48 % of them are exactly 0 in 3 calls, without a gradient; expected scores of both signs. Give
        cross_entropy the output of the last layer as it is, without relu.
    """

    needs: ClassVar[tuple[type[LossCall]]] = (LossCall,)
    kind: ClassVar[str] = "loss_misuse"
    confidence: ClassVar[float] = 0.85
    remedies: ClassVar[tuple[str, ...]] = ("give the loss the output of the last layer as it is",)
    proved_by: ClassVar[str] = "model/barley_sorts"

    calls: int = 3
    """Calls of the same line that must agree (ours, as for losses fed with probabilities)."""
    share: float = 0.05
    """Of the scores that are exactly 0 (ours: a layer at its start has half of them there)."""
    floor: float = 0.15
    """Of log N that the loss cannot fall below (ours: a tanh before ten classes has 0.35)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once for each line that calls a loss."""
        memory = window.memory(self)
        for key, seen in by_line(window).items():
            makers = [bounding(call) for call in seen]
            if key in memory or len(seen) < self.calls or len({maker and maker.function for maker in makers}) > 1:
                continue
            maker = makers[0]
            if maker is None:
                continue
            zeros = [as_float(one.zeros) for one in makers if one is not None and one.zeros is not None]
            floors = [floor for call, one in zip(seen, makers, strict=True) if (floor := least(call, one))]
            if len(floors) == len(seen) and all(f >= self.floor * chance(c) for f, c in zip(floors, seen, strict=True)):
                memory[key] = True
                yield self.bounded(window, seen, maker, min(floors))
            elif len(zeros) == len(seen) and fmean(zeros) >= self.share:
                memory[key] = True
                yield self.cut(window, seen, maker, fmean(zeros))

    def cut(self, window: Window, seen: list[LossCall], maker: Maker, zeros: float) -> Finding:
        """Build the finding of scores that cannot be negative."""
        call = seen[0]
        half = ", and no probability below 0.5" if call.loss == BINARY else ""
        return self.told(
            window,
            call,
            maker,
            f"so no score can be below 0{half}, and {zeros:.0%} of them are exactly 0 in {counted(len(seen), 'call')}, "
            "without a gradient; expected scores of both signs",
            zeros,
        )

    def bounded(self, window: Window, seen: list[LossCall], maker: Maker, floor: float) -> Finding:
        """Build the finding of scores that cannot be far apart."""
        call = seen[0]
        low, high = as_float(maker.low), as_float(maker.high)
        return self.told(
            window,
            call,
            maker,
            f"so scores lie in {low:.4g}..{high:.4g} in {counted(len(seen), 'call')}, and the loss cannot fall below "
            f"{floor:.4g}, where {chance(call):.4g} is known without learning; expected scores without bounds",
            floor,
        )

    def told(self, window: Window, call: LossCall, maker: Maker, seen: str, part: float) -> Finding:
        """Build the finding at the line of the function."""
        remedy = REMEDY.format(loss=call.loss, function=maker.function)
        inside = f" (module {maker.module})" if maker.module and maker.frame is None else spot(maker.frame)
        return self.finding(
            window,
            "warning",
            f"{call.loss}{spot(call.frame)} is given the output of {maker.function}{inside}, {seen}. "
            f"{remedy[0].upper()}{remedy[1:]}.",
            ref=call.ref,
            place=Place(
                module=maker.module,
                op=OPS.get(maker.function, f"aten::{maker.function}"),
                frame=maker.frame or call.frame,
                symptom_frame=call.frame,
            ),
            remedies=(remedy,),
            part=part,
        )


def bounding(call: LossCall) -> Maker | None:
    """The function with a bound that made the scores of a classifier; None for others, and for a softmax."""
    maker = call.maker
    if maker is None or call.reduction == "none" or not call.input_grad:
        return None
    if call.loss == "nll_loss" and maker.function == "log_softmax":
        return maker.given if maker.given is not None and "soft" not in maker.given.function else None
    scored = call.loss in ("cross_entropy", BINARY) and "soft" not in maker.function
    return maker if scored and not (call.loss == BINARY and maker.function == "sigmoid") else None


def least(call: LossCall, maker: Maker | None) -> float | None:
    """The loss of hard labels where the right score is at one end and the others are at the other; None without
    ends."""
    if maker is None or call.label_smoothing:
        return None
    low, high = as_float(maker.low), as_float(maker.high)
    if math.isinf(low) or math.isinf(high) or not low < high:
        return None
    if call.loss == BINARY:
        return min(math.log1p(math.exp(-high)), math.log1p(math.exp(low)))
    if "float" in call.target_dtype or (call.classes or 0) < 2:
        return None
    return math.log1p(((call.classes or 2) - 1) * math.exp(low - high))


def chance(call: LossCall) -> float:
    """The loss of scores that are all equal."""
    return math.log(2 if call.loss == BINARY else call.classes or 2)
