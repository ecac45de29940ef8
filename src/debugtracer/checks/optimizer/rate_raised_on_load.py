"""Does a run that goes on from a file keep the learning rate that came with the optimizer?"""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.schedule import Rate
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window


@dataclass
class Resumed:
    """An optimizer whose first update used more than the loaded rate, until it is known what the loss does."""

    fact: Rate
    before: tuple[float, ...]
    """The losses before it, that of its own step the last."""
    after: list[float] = field(default_factory=list)


class RateRaisedOnLoad(Check, frozen=True):
    """A resumed run multiplies the rate that it has read from the file, and the loss leaves its level.

    What it catches
        A rule for the batch size or the number of workers, applied to the rate of the file, which it was applied to
        before; a rate of the command line written over that of a schedule which had come down.
    Why it matters
        The rate was right for weights that had nearly converged. One that is several times as large throws them away in
        a few updates, and the run ends worse than where it was resumed.
    How it decides
        The first update after the state of an optimizer was loaded uses `times` the loaded rate or more, and the loss
        leaves its level: the median of the `looks` steps after it is `above` times that of as many before it and above
        all of them, or in a process that begins with the load `rise` times the loss of its first step. A larger rate
        that is meant, and that the loss stands, is left alone.
    What to do
        Set the rate once: scale it before the file is read, or store it unscaled.
    Example
        step 180, rank 0: SGD (train.py:172) was loaded (train.py:175) with a rate of 0.05 and its first update used 0.4
        (train.py:170), 8 times as much; the loss was 0.0412 and 2.3 in the 20 steps after it; expected a rate that goes
        on. Set it once: from the file, or by the rule.
    """

    needs: ClassVar[tuple[str | type[Fact], ...]] = (LOSS, Rate)
    kind: ClassVar[str] = "resume_state"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.8
    remedies: ClassVar[tuple[str, ...]] = (
        "scale the rate before the file is read, or store the unscaled one: the file holds the one in use",
        "begin with the rate of the loaded optimizer, or warm up to a larger one",
    )
    proved_by: ClassVar[str] = "optimizer/scaled_again"

    times: float = 3.0  # the loaded rate (ours, as for a jump of the rate)
    above: float = 3.0  # times the median loss before (ours)
    rise: float = 5.0  # times the loss of one step (ours)
    looks: int = 20  # steps before and after it (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Watch the loss after each such load; said once for each."""
        notebook, now = window.memory(self), window.now(LOSS)
        for fact in window.new(Rate):
            loaded = float(fact.loaded) if fact.loaded is not None else 0.0
            if fact.number == 0 and 0 < self.times * loaded <= float(fact.high) and now is not None:
                notebook[fact.optimizer] = Resumed(fact, (*window.before(LOSS)[-self.looks :], now))
        for number, resumed in list(notebook.items()):
            if now is not None and window.ref.step > resumed.fact.ref.step:
                resumed.after.append(now)
            if len(resumed.after) >= self.looks:
                del notebook[number]
                if self.has_left(resumed.before, statistics.median(resumed.after)):
                    yield self.describe(window, resumed)

    def has_left(self, before: tuple[float, ...], after: float) -> bool:
        """Whether a median loss is off the level of those before."""
        if len(before) <= self.looks:
            return after >= self.rise * before[-1] > 0
        return after > max(before) and after >= self.above * statistics.median(before) > 0

    def describe(self, window: Window, resumed: Resumed) -> Finding:
        """Build the finding, at the step of the first update."""
        fact, after = resumed.fact, statistics.median(resumed.after)
        high, loaded, level = float(fact.high), float(fact.loaded or 0), statistics.median(resumed.before)
        return self.finding(
            window,
            "warning",
            f"{fact.kind}{spot(fact.frame)} was loaded{spot(fact.loaded_frame)} with a rate of {loaded:.3g} and its "
            f"first update used {high:.3g}{spot(fact.rate_frame)}, {high / loaded:.3g} times as much; the loss was "
            f"{level:.3g} and {after:.3g} in the {self.looks} steps after it; expected a rate that goes on. "
            "Set it once: from the file, or by the rule.",
            ref=fact.ref,
            place=Place(frame=fact.rate_frame or fact.scheduler_frame or fact.frame, symptom_frame=fact.loaded_frame),
            rate=high,
            loaded=loaded,
            loss=after,
        )
