"""Are the targets of a regression of a size that its outputs come to?"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.checks.optimizer.constant_answer import is_whole
from debugtracer.trace.facts.constant_answer import ConstantAnswer
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, LR, Window


class TargetsUnscaled(Check, frozen=True):
    """Targets of a regression so large that the outputs stay near zero beside them.

    What it catches
        Prices, years, pascals or bytes given to mse_loss or l1_loss as they are, and outputs that begin near 0.
    Why it matters
        An update moves a weight by about the learning rate, so the bias alone takes thousands of updates to the mean
        of the targets. The loss falls a little all the time, which looks like learning.
    How it decides
        In all inspected calls of one line, over `steps` updates or more, the outputs have at most `reach` of the size
        of the targets, which is `size` or more, and the last loss is `times` what the best constant answer costs (the
        root of that for l1_loss). A difference squared by hand counts where its mean square is the loss. At the pace of
        the last looks it takes `pace` times the updates so far. Silent while the rate rises.
    What to do
        Standardise the targets with the mean and the standard deviation of the training set, and turn the outputs back
        where they are used. Or begin with the mean as the bias of the last layer.
    Example
        step 300, rank 0: the outputs that mse_loss (prices.py:31) is given have a size of 9.1 after 300 updates, 0.0036
        % of that of the targets, 2.5e+05; the loss is 38 times what the best constant answer costs, and at this pace it
        takes 2.1e+06 updates more; expected outputs that come near the targets. Standardise the targets.
    """

    needs: ClassVar[tuple[type | str, ...]] = (ConstantAnswer, LOSS)
    kind: ClassVar[str] = "data_unnormalised"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "standardise the targets, (y - mean) / std of the training set, and turn the outputs back where they are used",
        "or begin with the mean of the targets as the bias of the last layer",
    )
    proved_by: ClassVar[str] = "data/flat_rents"

    steps: int = 200  # updates (ours, as for a plateau)
    reach: float = (
        0.003  # of the size of the targets, at any look (ours: two layers may grow by squares of the updates)
    )
    size: float = 100.0  # of the targets (ours: of smaller ones the rate is to blame)
    times: float = 9.0  # the cost of the best constant answer, of squares (ours)
    pace: float = 20.0  # times the updates so far (ours)
    rising: float = 1.2  # times the first rate: a warm-up (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Judge a line at each new look; said once."""
        memory = window.memory(self)
        for key in {fact.key() for fact in window.new(ConstantAnswer)}:
            looks = [one for one in window.seen(ConstantAnswer) if one.key() == key]
            if key not in memory and self.far(window, looks):
                memory[key] = True
                yield self.describe(window, looks)

    def far(self, window: Window, looks: list[ConstantAnswer]) -> bool:
        """Whether the outputs have hardly begun to come near."""
        first, last = looks[0], looks[-1]
        length = last.ref.step - first.ref.step
        if length < self.steps or any(one.reach is None or as_float(one.reach) > self.reach for one in looks):
            return False
        if last.loss == "sub" and not is_whole(window, last):
            return False
        rates = window.finite(LR)
        if rates and rates[-1] > self.rising * rates[0]:
            return False
        times = as_float(last.value) / as_float(last.constant) if as_float(last.constant) > 0 else math.inf
        wanted = math.sqrt(self.times) if last.answer == "median" else self.times
        return size_of(last) >= self.size and times >= wanted and updates_left(looks) >= self.pace * length

    def describe(self, window: Window, looks: list[ConstantAnswer]) -> Finding:
        """Build the finding with both sizes and the pace."""
        last = looks[-1]
        reach, size, left = as_float(last.reach or 0.0), size_of(last), updates_left(looks)
        constant = as_float(last.constant)
        what = "a difference" if last.loss == "sub" else last.loss
        cost = f"{as_float(last.value) / constant:.3g} times" if constant > 0 else "more than"
        pace = f"at this pace it takes {left:.2g} updates more" if math.isfinite(left) else "they come no nearer"
        return self.finding(
            window,
            "warning",
            f"the outputs that {what}{spot(last.frame)} is given have a size of {reach * size:.2g} after "
            f"{last.ref.step} updates, {100 * reach:.2g} % of that of the targets, {size:.2g}; the loss is {cost} what "
            f"the best constant answer costs, and {pace}; expected outputs that come near the targets. Standardise the "
            "targets.",
            ref=last.ref,
            place=Place(frame=last.frame),
            reach=reach,
            size=size,
        )


def size_of(fact: ConstantAnswer) -> float:
    """The size of the targets, which is the loss where the outputs are near 0: its root where it is of squares."""
    value = as_float(fact.value)
    return value if fact.answer == "median" else math.sqrt(max(value, 0.0))


def updates_left(looks: list[ConstantAnswer]) -> float:
    """The updates until the outputs have the size of the targets, as they grew between the last two looks."""
    before, last = looks[-2:]
    steps, reach = last.ref.step - before.ref.step, as_float(last.reach or 0.0)
    grown = reach - as_float(before.reach or 0.0)
    return (1 - reach) * steps / grown if grown > 0 else math.inf
