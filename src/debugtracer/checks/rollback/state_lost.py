"""Does a resumed run go on with all of its training state?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from debugtracer.checks.check import Check
from debugtracer.spikes.episode import median
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.checkpoint import Resumed
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window

IN_FILE = ("call load_state_dict of what the file holds after building the object and before the first step",)


class StateLost(Check, frozen=True):
    """Training goes on from a checkpoint without the optimizer's or the scheduler's state.

    What it catches
        Only the weights are saved; the optimizer or the schedule is not loaded after a resume.
    Why it matters
        Adam starts with empty moments and a schedule with a second warmup: the loss jumps and hundreds of steps are
        lost, without an error.
    How it decides
        At the first update after load_state_dict. Loud when the weights were saved by this very run together with its
        step count, and an optimizer of the same setup now begins with an empty state (or its schedule at 0); when the
        file, of whatever run, holds a step count and the state of an optimizer with the very options of the one that
        begins; when these differ in the rate alone, which is now `times` that of the file or more, and the `looks`
        losses after the first lie above it, their median `rise` times as high; or when a part of the saved training
        state was loaded and another one that is in use was not. Fine-tuning (weights alone, another optimizer, no
        counter, parameters beside the loaded ones) is silent, a counter of another run a note.
    What to do
        Save and load the state of optimizer, scheduler and scaler together with the weights.
    Example
        step 240, rank 0: AdamW begins with an empty state and its schedule at step 0 after weights of step 240 were
        loaded (train.py:61); the checkpoint (train.py:56) holds counter, weights; expected the optimizer and scheduler
        of the save. Save and load them too.
    """

    needs: ClassVar[tuple[str | type[Fact], ...]] = (Resumed, LOSS)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "resume_state"
    confidence: ClassVar[float] = 0.9
    remedies: ClassVar[tuple[str, ...]] = (
        "save optimizer.state_dict() and scheduler.state_dict() (and the scaler's) beside the weights",
        "load each of them after building the objects and before the first step",
    )
    proved_by: ClassVar[str] = "rollback/weights_and_step"

    times: float = 2  # rates of the file (ours)
    looks: int = 10  # losses after that of the loaded weights (ours)
    rise: float = 1.5  # times the loss of the loaded weights (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield a finding at the first update after a load, or once it is known what the loss does."""
        memory = window.memory(self)
        for fact in window.new(Resumed):
            lost = lost_parts(fact)
            if lost:
                sure = self.is_resume(fact)
                if not (sure or window.ended or "waiting" in memory) and self.is_raised(fact, lost):
                    memory["waiting"] = fact, lost, []
                elif sure or ("counter" in fact.saved and not fact.partial):
                    yield self.describe(window, fact, lost, sure)
        if "waiting" in memory:
            yield from self.after(window, memory)

    def is_raised(self, fact: Resumed, lost: list[str]) -> bool:
        """Whether the file holds the state of this optimizer at a much lower rate, and it was left there."""
        fits = "optimizer" in lost and {"counter", "optimizer"} <= set(fact.saved) and not fact.partial
        return fits and bool(fact.file_rate) and (fact.lr or 0.0) >= self.times * (fact.file_rate or 0.0)

    def after(self, window: Window, memory: dict[Any, Any]) -> Iterator[Finding]:
        """Yield the finding once enough losses came, loud where they left the level of the loaded weights."""
        fact, lost, losses = memory["waiting"]
        if (loss := window.now(LOSS)) is not None:
            losses.append(loss)
        if len(losses) <= self.looks and not window.ended:
            return
        del memory["waiting"]
        start, *rest = losses or [0.0]
        rose = len(losses) > self.looks and 0 < start < min(rest) and median(rest) >= self.rise * start
        yield self.describe(window, fact, lost, rose, (start, median(rest)) if rose else None)

    def is_resume(self, fact: Resumed) -> bool:
        """True for a resume: the file holds the run's own counter, or other training state was loaded or fits."""
        return certain(fact) or (fact.file_fits and "counter" in fact.saved)

    def describe(
        self, window: Window, fact: Resumed, lost: list[str], sure: bool, rose: tuple[float, float] | None = None
    ) -> Finding:
        """Build the finding with the parts of the training state that begin anew."""
        level = (
            f" Its rate is {fact.lr:.3g}, in the file {fact.file_rate:.3g}; the loss rose from {rose[0]:.3g} to "
            f"{rose[1]:.3g}."
            if rose
            else ""
        )
        begins = {
            "optimizer": f"{fact.optimizer} begins with an empty state",
            "scheduler": "the schedule begins at step 0",
        }
        at = f" of step {fact.saved_step}" if fact.saved_step is not None else ""
        inside = ", ".join(fact.saved) or "weights"
        in_file = [part for part in lost if part in fact.saved]
        frame = (last_load(fact, lost) if in_file else fact.save_frame) or fact.load_frame
        return self.finding(
            window,
            "warning" if sure else "note",
            f"{' and '.join(begins[part] for part in lost)} after weights{at} were loaded{spot(fact.load_frame)}; the "
            f"checkpoint{spot(fact.save_frame)} "
            f"holds {inside}; expected the {' and '.join(lost)} of the save. "
            f"{'Load' if in_file else 'Save and load'} {'it' if len(lost) == 1 else 'them'} too"
            f"{'' if certain(fact) or not sure else ', unless a new training begins on old weights'}.{level}",
            ref=fact.ref,
            place=Place(frame=frame, symptom_frame=fact.load_frame),
            remedies=IN_FILE if in_file else self.remedies,
            lr=fact.lr or 0.0,
            lr_before=fact.lr_before or (fact.file_rate or 0.0 if rose else 0.0),
        )


def last_load(fact: Resumed, lost: list[str]) -> Frame | None:
    """The line after which the load that is missing belongs: that of the optimizer, where it was loaded."""
    return (fact.optimizer_load_frame if lost == ["scheduler"] else None) or fact.load_frame


def certain(fact: Resumed) -> bool:
    """True if the run's own step count is in the file, or another part of the training state was loaded."""
    return (fact.saved_here and fact.counter and fact.same_setup) or bool(fact.restored)


def lost_parts(fact: Resumed) -> list[str]:
    """What is in use and begins anew."""
    lost = []
    if fact.fresh and fact.stateful and "optimizer" not in fact.restored:
        lost.append("optimizer")
    if (
        fact.schedule_fresh
        and "scheduler" not in fact.restored
        and ("scheduler" in fact.saved or (fact.schedule_before or 0) > 0)
    ):
        lost.append("scheduler")
    return lost
