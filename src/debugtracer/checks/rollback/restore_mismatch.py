"""Does a restored run go on where the saved one was?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from statistics import median
from typing import Any, ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.checkpoint import PlainValue, Reset, Resumed, resets
from debugtracer.trace.facts.former_run import FormerRun
from debugtracer.trace.file_line import spot
from debugtracer.trace.finding import Finding
from debugtracer.trace.number import as_float
from debugtracer.trace.place import Place
from debugtracer.trace.window import LOSS, Window

KEPT = 20_000  # losses remembered by step (ours)
WAIT = 1_000  # steps that a restore waits for its former run (ours)

NAMED = 3  # attributes told by name (ours)
SURE = 0.9  # where an attribute is seen to begin anew (ours)
ELSE = "look at what else the model and its data need (plain attributes, vocabulary, scale of the inputs)"
MEANT = "; nothing if another task begins here"
KEEP = (
    "register_buffer the attributes that begin anew, save and load them with the weights, or compute them in each run"
)


class RestoreMismatch(Check, frozen=True):
    """After a restore the loss is not what was recorded at that step.

    What it catches
        State that is not in the file: statistics of a normalisation in plain attributes, a vocabulary or a scale made
        anew, a submodule that was not loaded, another preprocessing; a restored run that begins at other data.
    Why it matters
        The run goes on from weights that no longer fit what is around them, and nothing fails.
    How it decides
        The losses recorded around the save (16 steps before and after), by this process or by one of the last 8 runs of
        the same script in the same folder of runs, beside the first 5 after the load. Silent inside their band: kernels
        may round and loaders may shuffle anew. Loud when each of the 5 is above the largest of them, the medians are 6
        robust deviations and half of the recorded median apart. Only for a resume: the optimizer's state was loaded
        too, or the file counts the steps of this setup; not when the batches now come from another loader, or when the
        weights were written again after the load (pruned, a new head). It is a note where the very objects that were
        saved are loaded again: nothing was built anew, and a loop that takes back its best weights may begin a harder
        task with them. The attributes named are those of the models,
        and of the objects around the loop, that no state_dict holds and that were others at the save.
    What to do
        Compare one loss on one fixed batch before the save and after the load; save what differs.
    Example
        step 240, rank 0: the first 5 losses after weights of step 200 were loaded (train.py:52) are 24.3, 22.9, 20.1,
        19.8, 16.2; around that step 0.44 and at most 0.61 was recorded; expected them to go on there. The file holds
        counter, optimizer, weights and no generator: look at what else the model and its data need (plain attributes,
        vocabulary, scale of the inputs).
    """

    needs: ClassVar[tuple[type[Resumed] | type[FormerRun] | str, ...]] = (Resumed, FormerRun, LOSS)
    at_end: ClassVar[bool] = True
    kind: ClassVar[str] = "resume_state"
    confidence: ClassVar[float] = 0.75
    remedies: ClassVar[tuple[str, ...]] = (
        (
            "compute the loss of one fixed batch right before the save and right after the load, in the same mode: "
            "they must agree"
        ),
        (
            "register_buffer what the forward reads and the state_dict does not hold; save vocabulary and scales with "
            "the weights"
        ),
        "save and restore the generators and the position of the loader",
    )
    proved_by: ClassVar[str] = "rollback/running_scale"

    first: int = 5  # losses after the load (ours)
    around: int = 16  # steps before and after the save (ours)
    least: int = 8  # recorded losses needed (ours)
    deviations: float = 6.0  # robust standard deviations (that of loss-spike: no false alarm in 5,600 healthy steps)
    share: float = 0.5  # of the recorded median (ours)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Yield when five losses and the recorded ones are known."""
        memory = window.memory(self)
        losses, waiting = memory.setdefault("losses", {}), memory.setdefault("waiting", {})
        for fact in window.new(Resumed):
            if is_resume(fact):
                recorded = self.recorded(losses, fact) if fact.saved_here else None
                waiting[fact.ref.step] = (fact, recorded, resets(fact.plain_before, fact.plain))
        for former in window.new(FormerRun):
            fact, *_ = waiting.get(former.start, (None,))
            if fact is not None and former.same_program:
                waiting[former.start] = (
                    fact,
                    (former.step, [loss for step, loss in former.losses if abs(step - former.step) <= self.around]),
                    resets(former.plain, fact.plain),
                )
        now = window.now(LOSS)
        if now is not None:
            losses[window.ref.step] = now
        if len(losses) > KEPT:
            del losses[next(iter(losses))]
        yield from self.compared(window, losses, waiting)

    def recorded(self, losses: Mapping[int, float], fact: Resumed) -> tuple[int, list[float]]:
        """The step of the save, and the losses around it from before the load."""
        saved = fact.saved_step or 0
        return saved, [
            losses[step]
            for step in range(saved - self.around, min(saved + self.around + 1, fact.ref.step))
            if step in losses
        ]

    def compared(self, window: Window, losses: Mapping[int, float], waiting: dict[int, Any]) -> Iterator[Finding]:
        """Yield findings about restores whose first losses have all come."""
        for start in list(waiting):
            fact, recorded, reset = waiting[start]
            here = [losses[step] for step in range(start, start + self.first) if step in losses]
            if len(here) == self.first and recorded is not None:
                del waiting[start]
                if len(recorded[1]) >= self.least and self.apart(here, recorded[1]):
                    yield self.describe(window, fact, recorded, here, reset)
            elif window.ref.step > start + WAIT:
                del waiting[start]

    def apart(self, here: list[float], there: list[float]) -> bool:
        """True when each loss is far above the recorded band."""
        middle = median(there)
        spread = 1.4826 * median(abs(loss - middle) for loss in there)
        rise = median(here) - middle
        return min(here) > max(there) and rise > self.deviations * spread and rise > self.share * abs(middle)

    def describe(
        self,
        window: Window,
        fact: Resumed,
        recorded: tuple[int, list[float]],
        here: list[float],
        reset: list[Reset],
    ) -> Finding:
        """Build the finding with both levels, what the file lacks, and the plain attributes that begin anew."""
        saved, there = recorded
        inside = fact.saved or ("weights",)
        absent = [
            word
            for word in ("optimizer", *(("scheduler",) if fact.schedule_fresh is not None else ()), "generator")
            if word not in inside
        ]
        lacks = f" and no {', '.join(absent)}" if absent else ""
        return self.finding(
            window,
            "note" if fact.in_place else "warning",
            f"the first {len(here)} losses after weights of step {saved} were loaded{spot(fact.load_frame)} are "
            f"{', '.join(f'{loss:.3g}' for loss in here)}; around that step {median(there):.3g} and at most "
            f"{max(there):.3g} was recorded; expected them to go on there. "
            f"The file{spot(fact.save_frame)} holds {', '.join(inside)}{lacks}: "
            f"{anew(reset) or ELSE}{MEANT if fact.in_place else ''}.",
            ref=fact.ref,
            place=Place(
                frame=(reset[0].now.frame if reset else None) or fact.load_frame, symptom_frame=fact.load_frame
            ),
            confidence=SURE if reset else None,
            remedies=(KEEP, *self.remedies) if reset else (),
            loss=median(here),
            recorded=median(there),
            saved_step=saved,
        )


def anew(reset: list[Reset]) -> str:
    """Say which plain attributes are not what they were at the save; empty without one."""
    told = [
        f"{now.name}{spot(now.frame)} was {shown(before)} at the save and is {shown(now)} now"
        for before, now in reset[:NAMED]
    ]
    more = f", and {len(reset) - NAMED} more" if len(reset) > NAMED else ""
    return f"{', '.join(told)}{more}, which no state_dict holds" if told else ""


def shown(value: PlainValue) -> str:
    """A plain value in a few words."""
    mean, spread = as_float(value.mean), as_float(value.spread)
    return f"{mean:.3g}" if value.size == 1 else f"{value.size} values of mean {mean:.3g} and spread {spread:.3g}"


def is_resume(fact: Resumed) -> bool:
    """True for a resumed run with unedited weights and the same data: the optimizer was loaded too, or the file counts
    steps."""
    return (
        fact.same_data is not False
        and not fact.edited
        and ("optimizer" in fact.restored or (fact.saved_here and fact.counter and fact.same_setup))
    )
