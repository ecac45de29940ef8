"""Did the loss leave its level for good?"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Any, ClassVar

import msgspec

from debugtracer.checks.check import Check
from debugtracer.spikes.episode import Episode, median
from debugtracer.spikes.level import BLOCK
from debugtracer.spikes.lines import lines, rise_told
from debugtracer.spikes.loop_change import loop_change, redefinition
from debugtracer.spikes.monitor import Monitor, monitor
from debugtracer.spikes.moving import exploded
from debugtracer.spikes.other_data import other_data, other_start
from debugtracer.spikes.quieter import elsewhere, quieter, untried
from debugtracer.spikes.sparse import Departure, Sparse
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.facts.loop_change import LoopChange
from debugtracer.trace.facts.loss_comparison import LossComparison
from debugtracer.trace.facts.order import StepOrder
from debugtracer.trace.facts.turns_taken import TurnsTaken
from debugtracer.trace.facts.wiring import Wiring
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float, number
from debugtracer.trace.place import Place
from debugtracer.trace.window import GRAD_L2, LOSS, LR, Window

# logged by RL and GAN loops
MOVING = re.compile(r"(?<![a-z])rew|return|episode|discriminator|generator|critic|loss_[dg]\b|\b[dg]_loss")

ADVICE = "Go back to a checkpoint before step {} with a lower learning rate, or look at the data from there on."
REST = "Nothing if it falls again; else look at the data from there on."


class LossDivergence(Check, frozen=True):
    """The loss rises and does not come back.

    What it catches
        A learning rate beyond stability, an optimizer whose state is damaged, data that changed for good, gradients
        that pile up.
    Why it matters
        Every further step makes it worse or is wasted; the last good checkpoint grows older.
    How it decides
        Four ways. A spike (see loss-spike) after 32 steps: the median is still more than 3 MAD above the expectation
        and not falling (step change), or it rises beyond 8 MAD (divergence); loud if the level rose by 5 % of the first
        losses, and had not risen so far once before and come back (each update of PPO has a level of its own). A change
        of level without an outlier (Bayesian change-point detection on the same residuals) that stays 2 MAD above for 8
        steps: loud only if the loss had halved since the start and is back at 90 % of it; the loss of a generator may
        rise. And, with no memory at all: the median of 16 losses is three times that of the first 16 and rises. A log
        with at least 8 losses and (median) 10 steps between them is judged as a whole at its end: the median of the
        last 3 is more than 6 robust deviations of the differences above the best median of 3, and above the first 3 or
        1.5 times the best; not while a learning rate that rose again explains it. Losses that take negative values must
        rise four times as far. A learning rate that rose threefold in the 8 steps before is named as the cause. Where
        the target moves nothing is said (several optimizers that learn from different losses, targets from a copy of
        the model that changes) unless the gradient norm has risen a hundredfold and stays there, or the learning rate
        had just risen. Another note is for a rise of twice the size of the last. Else a warning needs a trial: the last
        3 recorded batches are given to the weights of now and to those kept from when the loss was low; what has no
        gradient (targets) stays as it was. It is loud only where the earlier ones take back half of the rise: a loss
        that grows because returns, task or data are others is a note, and so is one that could not be tried. Of a log
        alone nothing can be tried; of one that also holds a reward or an opponent's loss it is a note. So is it where
        the rate has risen evenly in each update of the run to 100 times the first one, by a factor from a tiny one on
        or in a line far beyond that of the constructor: a search for a rate; and where another dataset is read since
        that step: another task or stage, of which a rise that is not loud is not told, nor one above the first losses;
        nor this where networks are trained one after the other for a few updates each. The line is that of a write into
        weights, or of a number that moved, where the loop did so in that step and in none before. Where a factor or a
        weight of the loss changed there, or a term joined it, that is a note: the new level is another loss.
    What to do
        Go back to the last checkpoint before it with a lower learning rate, or warm up and clip; look at the
        data from there on.
    Example
        step 500, rank 0: the loss left 2.71 for 5.6 (87 MAD above at first, 64 after 33 steps: step change); expected
        at most 3 MAD. Go back to a checkpoint before step 500 with a lower learning rate.
    """

    times_start: float = 3.0  # times the first losses, ours
    least_share: float = 0.05  # rise of the level that is loud, as a share of the first losses, ours
    learnt: float = 0.5  # times the first losses: a loss below it had learnt something, ours
    as_high: float = 0.75  # of the rise: an earlier block that high is the same rise, ours
    further: float = 2.0  # times the rise that was noted before, for another note (ours)
    healed: float = 0.5  # of the rise that the weights of before must take back on the same batches, ours
    lost: float = 0.9  # times the first losses: a loss above it has lost everything, ours

    needs: ClassVar[tuple[str | type[Fact], ...]] = (
        LOSS,
        GRAD_L2,
        LR,
        StepOrder,
        TurnsTaken,
        Wiring,
        LossComparison,
        LoopChange,
    )
    at_end: ClassVar[bool] = True
    kind: ClassVar[str | None] = "lr_too_high"
    symptom: ClassVar[str] = "loss_spike"
    confidence: ClassVar[float] = 0.4
    family: ClassVar[str] = "loss"
    suspects: ClassVar[tuple[str, ...]] = ("lr-too-high", "exploding-gradients")
    remedies: ClassVar[tuple[str, ...]] = (
        "go back to a checkpoint before it with a lower learning rate; warm up over the first hundreds of steps",
        "clip gradients: torch.nn.utils.clip_grad_norm_(params, 1.0) before step()",
    )
    proved_by: ClassVar[str] = "optimizer/growing_schedule"

    def judge(self, window: Window) -> Iterator[Finding]:
        """The settled finding of an episode that did not recover; once, a loss far above where it began."""
        monitored, notebook = monitor(window), window.memory(self)
        for episode in monitored.news:
            moves = monitored.excused and not monitored.lr_jump(ago=len(episode.values))
            if episode.shape in ("step change", "divergence", "drift") and not moves:
                own = None if monitored.lr_jump(ago=len(episode.values)) else redefinition(window, episode)
                if own is not None:
                    yield self.redefined(window, episode, own)
                    continue
                found = quieter(self.left(window, episode, monitored), monitored.search.times(window))
                if not found.evidence.get("lr_jump") and other_data(window, episode.ref.step):
                    if found.severity != "note" and self.rose_further(found, notebook):
                        yield elsewhere(found)
                    continue
                notebook["loud"] = notebook.get("loud", False) or found.severity == "warning"
                if found.severity == "note" and not self.rose_further(found, notebook):
                    continue
                yield from self.asked(window, found, notebook)
        above = monitored.new_block and not monitored.excused and self.above_start(monitored)
        if above and "told" not in notebook and not other_start(window):
            notebook["told"] = notebook["loud"] = True
            found = quieter(self.risen(window, monitored), monitored.search.times(window))
            yield from self.asked(window, found, notebook)
        yield from self.answers(window, notebook)
        yield from self.far_apart(window, notebook)

    def rose_further(self, found: Finding, notebook: dict[Any, Any]) -> bool:
        """Whether it rose by more than what was noted before: a loss that changes its level again and again does so
        by its nature."""
        loss, expected = (as_float(found.evidence[name]) for name in ("loss", "expected"))
        rise, noted = loss - expected, notebook.get("noted")
        if noted is not None and rise <= self.further * noted:
            return False
        notebook["noted"] = rise
        return True

    def asked(self, window: Window, found: Finding, notebook: dict[Any, Any]) -> Iterator[Finding]:
        """A finding that waits for a trial of its weights; of a log alone, whose program nobody watches, it is told as
        it is."""
        known = next((c for c in window.seen(LossComparison) if c.ref.step == found.step), None)
        if known is not None:
            yield from self.answer(found, known, notebook)
        elif not window.facts or not hangs_on_loss(found, monitor(window)):
            yield found
        else:
            notebook.setdefault("waiting", {})[found.step] = found
            yield untried(found, "")

    def answers(self, window: Window, notebook: dict[Any, Any]) -> Iterator[Finding]:
        """What the trials that have come since say of the findings that wait for them."""
        for known in window.new(LossComparison):
            found = notebook.get("waiting", {}).pop(known.ref.step, None)
            if found is not None:
                yield from self.answer(found, known, notebook)

    def answer(self, found: Finding, known: LossComparison, notebook: dict[Any, Any]) -> Iterator[Finding]:
        """Say it aloud only where the weights of before are better on the batches of now; else the first time as a
        note."""
        if known.refused:
            yield untried(found, known.refused)
            return
        expected = as_float(found.evidence.get("expected", found.evidence.get("first", "NaN")))
        seen = (
            f" On the last {known.batches} batches the weights of step {known.earlier_step} give {known.earlier:.4g}, "
            f"those of now {known.now:.4g}"
        )
        numbers = found.evidence | {"now": number(known.now), "earlier": number(known.earlier)}
        if known.now - known.earlier >= self.healed * (known.now - expected) > 0:
            yield msgspec.structs.replace(found, message=f"{found.message}{seen}.", evidence=numbers)
        elif "moved" not in notebook:
            notebook["moved"] = True
            what = found.message.partition("; expected")[0]
            yield msgspec.structs.replace(
                found,
                severity="note",
                message=f"{what}.{seen}: not the weights have become worse, but data, targets or what else has no "
                "gradient are others; expected a loss that falls only where they stay the same. Nothing, if they were "
                "to change.",
                evidence=numbers,
            )

    def far_apart(self, window: Window, notebook: dict[Any, Any]) -> Iterator[Finding]:
        """A log whose values lie many steps apart, when it is over; nothing if the other ways have found it."""
        series: Sparse = notebook.setdefault("sparse", Sparse())
        loss = window.now(LOSS)
        if loss is not None and math.isfinite(loss):
            series.push(window.ref, loss, window.now(LR))
        gone = series.departure(self.times_start) if window.ended and not notebook.get("loud", False) else None
        if gone is not None and not monitor(window).excused:
            yield self.departed(window, gone)

    def left(self, window: Window, episode: Episode, monitored: Monitor) -> Finding:
        """Build the finding of a loss that is on another level."""
        first, now, above = episode.first, median(episode.values[-BLOCK:]), median(episode.above[-BLOCK:])
        jump = monitored.lr_jump(ago=len(episode.values))
        cause = rise_told(window, jump)
        loud = self.is_loud(episode, now, monitored)
        then = ADVICE.format(episode.ref.step) if loud else REST
        place, changed = lines(window, jump), None if jump else loop_change(window, episode)
        if changed is not None:
            at = f"{changed.frame.file.rpartition('/')[2]}:{changed.frame.line}"
            place, then = msgspec.structs.replace(place, frame=changed.frame), f"Look at {at} first: {changed.words}."
        return self.finding(
            window,
            "warning" if loud else "note",
            f"the loss left {first.expected:.4g} for {now:.4g} ({first.z:.0f} MAD above at first, {above:.0f} after "
            f"{len(episode.above)} steps: "
            f"{episode.shape}){cause}; expected at most 3 MAD. {then}",
            ref=episode.ref,
            place=place,
            kind="loss_spike" if episode.shape == "step change" and not jump else None,
            confidence=0.75 if jump else None,
            loss=now,
            expected=first.expected,
            z=episode.size,
            lr_jump=jump,
        )

    def redefined(self, window: Window, episode: Episode, own: LoopChange) -> Finding:
        """Build the note of a loss that is another one since: its new level says nothing of the weights."""
        now = median(episode.values[-BLOCK:])
        return self.finding(
            window,
            "note",
            f"the loss left {episode.first.expected:.4g} for {now:.4g}, and is computed otherwise since: {own.words}; "
            "expected another level then. Nothing, if that is meant.",
            ref=episode.ref,
            place=Place(frame=own.frame),
            loss=now,
            expected=episode.first.expected,
        )

    def departed(self, window: Window, gone: Departure) -> Finding:
        """A sparse series ends far above its best; where a reward or an opponent is logged beside it, the loss chases a
        moving target and may rise."""
        return self.finding(
            window,
            "note" if any(MOVING.search(name.lower()) for name in window.series) else "warning",
            f"the loss left its best for good: {gone.best:.4g} at step {gone.best_ref.step}, {gone.now:.4g} at step "
            f"{window.ref.step} (medians of 3 logged values; {gone.deviations:.0f} deviations above); expected at most "
            f"6. Go back to a checkpoint before step {gone.left_ref.step} with a lower "
            "learning rate, or look at the data from there on.",
            ref=gone.left_ref,
            loss=gone.now,
            best=gone.best,
            deviations=gone.deviations,
        )

    def is_loud(self, episode: Episode, now: float, monitored: Monitor) -> bool:
        """Whether to warn: an outlier that stays and costs something, or a change that took back all that was
        learnt."""
        start, expected = monitored.loss.residuals.start, episode.first.expected
        high = expected + self.as_high * (now - expected)
        if monitored.level.came_back((expected + now) / 2, high, len(episode.values)):
            return False
        if episode.sudden and episode.strong and now - expected >= self.least_share * start:
            return True
        return episode.first.unit == 0 and expected <= self.learnt * start and now >= self.lost * start

    def above_start(self, monitored: Monitor) -> bool:
        """True when a never negative loss is far above its first values and rising."""
        level = monitored.level
        if len(level.medians) < 3 or level.least < 0 or level.first <= 0:
            return False
        return level.now > self.times_start * level.first and level.now > level.medians[-2] > level.first

    def risen(self, window: Window, monitored: Monitor) -> Finding:
        """Build the finding of a loss that is worse than at the start."""
        level = monitored.level
        return self.finding(
            window,
            "warning",
            f"the median of the last {BLOCK} losses is {level.now:.4g}, "
            f"of the {BLOCK} before {level.medians[-2]:.4g}, of the first {level.first:.4g}; "
            "expected a loss below where it began. Start again with "
            "a lower learning rate or a warm-up, and clip.",
            place=lines(window),
            loss=level.now,
            first=level.first,
            best=level.best,
        )


def hangs_on_loss(found: Finding, monitored: Monitor) -> bool:
    """Whether a loud finding stands on the loss alone, which may rise for other reasons than training: not after a jump
    of the learning rate, nor while the gradient explodes."""
    return found.severity != "note" and not found.evidence.get("lr_jump") and not exploded(monitored.grad_level)
