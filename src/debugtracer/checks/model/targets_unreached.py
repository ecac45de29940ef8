"""Can the outputs of the model become what the targets are?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from statistics import fmean
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.loss_calls import by_line
from debugtracer.trace.birth import Frame
from debugtracer.trace.counted import counted
from debugtracer.trace.facts.loss_call import LossCall, Maker
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import Window

OPS = {"softmax": "aten::_softmax", "clip": "aten::clamp", "relu6": "aten::hardtanh"}
EXACT = 1e-3  # of a sum of probabilities (ours, as for a softmax)
UNBOUNDED = "end in the layer before {function}, or scale the targets to the range of {function} and the outputs back"
MANY = "use BCEWithLogitsLoss for labels of which several are right: each class is a yes or no of its own"


class TargetsUnreached(Check, frozen=True):
    """The function that the model ends in cannot give what the targets of a regression are, or labels of which several
    are right are given to a loss in which one is.

    What it catches
        A sigmoid, tanh, relu, softmax or clamp as the last function before mse_loss, l1_loss, smooth_l1_loss or
        huber_loss where the targets go beyond its range. Multi-hot labels given to CrossEntropyLoss.
    Why it matters
        Nothing fails. The loss falls to what the range allows and stays there; where it ends no gradient comes back.
        With several right classes the softmax can give each of them a share alone, and rows without a label teach
        nothing.
    How it decides
        Autograd's graph says that the input of the loss is the output of such a function or a view of it; what is
        scaled afterwards has no bound. In `calls` inspected calls of one line at least `share` of the targets lie
        outside by more than rounding, and what is beyond is at least `part` of their variance: noise about the end of
        a range is less. Losses with reduction "none" are not judged: a mask may follow. Labels: all 0 or 1, with rows
        of two or more and of another number; a square of scores of rows against each other may
        want all of its own, and of more than `most` classes several may be meant to share.
    What to do
        End in a layer without such a function, or scale the targets to its range. For several labels take
        BCEWithLogitsLoss.
    Example
        step 0, rank 0: mse_loss (train.py:31) is given the output of sigmoid (train.py:18), which lies in 0..1, and 83
        of 96 targets in 3 calls lie outside, in -7.2..14.9; so at least 61 % of their variance cannot be learnt;
        expected targets within it. End in the layer before sigmoid.
    """

    needs: ClassVar[tuple[type[LossCall]]] = (LossCall,)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "loss_misuse"
    confidence: ClassVar[float] = 0.8
    proved_by: ClassVar[str] = "model/weir_levels"

    calls: int = 3
    """Calls of the same line that must agree (ours, as for losses fed with probabilities)."""
    share: float = 0.1
    """Of the targets that lie outside (ours: a few outliers may be cut on purpose)."""
    part: float = 0.1
    """Of the variance of the targets that lies beyond, in each call (ours: noise of a quantity that is never
    negative is less)."""

    most: int = 500
    """Classes of which several are right (ours: of more, as the items of a shop, a softmax may be meant)."""

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield once for each line that calls a loss."""
        memory = window.memory(self)
        for key, seen in by_line(window).items():
            if key in memory or not (len(seen) >= self.calls or window.ended):
                continue
            maker = seen[0].maker
            if maker is not None and all(self.beyond(call, maker) for call in seen):
                outside, total = sum(call.unreached for call in seen), sum(call.counted for call in seen)
                if outside >= self.share * total:
                    memory[key] = True
                    yield self.out_of_range(window, seen, maker)
            elif several_right(seen, self.most):
                memory[key] = True
                yield self.several(window, seen)

    def beyond(self, call: LossCall, maker: Maker) -> bool:
        """Whether a good part of what the targets tell lies outside of what the function gives."""
        same = call.maker is not None and call.maker.function == maker.function
        return same and call.unreachable is not None and as_float(call.unreachable) >= self.part

    def out_of_range(self, window: Window, seen: list[LossCall], maker: Maker) -> Finding:
        """Build the finding with both ranges."""
        call, outside = seen[0], sum(call.unreached for call in seen)
        low = min(as_float(one.target_low) for one in seen if one.target_low is not None)
        high = max(as_float(one.target_high) for one in seen if one.target_high is not None)
        part = fmean(as_float(one.unreachable) for one in seen if one.unreachable is not None)
        remedy = UNBOUNDED.format(function=maker.function)
        inside = f"module {maker.module}, " if maker.module else ""
        return self.finding(
            window,
            "warning",
            f"{call.loss}{spot(call.frame)} is given the output of {maker.function} ({inside}{at(maker.frame)}), which "
            f"lies {span(as_float(maker.low), as_float(maker.high))}, and {outside} of "
            f"{sum(one.counted for one in seen)} targets in {counted(len(seen), 'call')} lie outside, "
            f"{span(low, high)}; so at least {part:.0%} of their variance cannot be learnt; expected targets within "
            f"it. {remedy[0].upper()}{remedy[1:]}.",
            ref=call.ref,
            place=Place(
                module=maker.module,
                op=OPS.get(maker.function, f"aten::{maker.function}"),
                frame=maker.frame or call.frame,
                symptom_frame=call.frame,
            ),
            remedies=(remedy,),
            outside=float(outside),
            part=part,
        )

    def several(self, window: Window, seen: list[LossCall]) -> Finding:
        """Build the finding with how many labels a row has."""
        call = seen[0]
        low = min(as_float(one.row_low) for one in seen if one.row_low is not None)
        high = max(as_float(one.row_high) for one in seen if one.row_high is not None)
        return self.finding(
            window,
            "warning",
            f"cross_entropy{spot(call.frame)} is given labels of 0 and 1 with {low:g} to {high:g} ones in a row, in "
            f"{counted(len(seen), 'call')}; expected probabilities that sum to 1, as one class is right. "
            f"{MANY[0].upper()}{MANY[1:]}.",
            ref=call.ref,
            place=Place(module=call.module, frame=call.frame),
            remedies=(MANY,),
            least=low,
            most=high,
        )


def several_right(seen: list[LossCall], most: int) -> bool:
    """Whether the rows of targets have several ones, and not all as many, of a number of classes at most."""
    if any(one.row_low is None or one.row_high is None or not one.multi_hot for one in seen):
        return False
    low = min(as_float(one.row_low) for one in seen if one.row_low is not None)
    high = max(as_float(one.row_high) for one in seen if one.row_high is not None)
    square = all(len(one.input_shape) == 2 and one.input_shape[0] == one.input_shape[1] for one in seen)
    few = all((one.classes or 0) <= most for one in seen)
    return high > 2 - EXACT and high - low > EXACT and few and not square


def span(low: float, high: float) -> str:
    """Write a range, open where it has no end."""
    if math.isinf(high):
        return f"at {low:.4g} and above"
    return f"at {high:.4g} and below" if math.isinf(low) else f"in {low:.4g}..{high:.4g}"


def at(frame: Frame | None) -> str:
    """Write a line, or that it is not known."""
    return f"line {frame.line}" if frame is not None else "at a line that is not known"
