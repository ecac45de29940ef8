"""How much work would be lost now?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from debugtracer.checks.check import Check
from debugtracer.trace.facts.checkpoint import CheckpointMark, OtherSave
from debugtracer.trace.facts.crash import Crash
from debugtracer.trace.facts.fact import Fact
from debugtracer.trace.finding import Finding
from debugtracer.trace.window import STEP_S, Window


class Stale(Check, frozen=True):
    """A long run without a checkpoint, or one that died long after its last.

    What it catches
        A save that was forgotten or comes only at the end, a condition for saving (best so far, every n epochs) that is
        hardly ever met.
    Why it matters
        A crash, a full disk or a lost machine costs all of the work since the last save.
    How it decides
        The times of the steps are added up (from one update to the next, evaluation and saves included). Rank 0 has
        trained for an hour and 100 steps without a save; or it died of its own exception, 15 minutes and 100 steps
        after the last one. Seen are saves of weights by torch.save, safetensors and torch.distributed.checkpoint.
        Always a note: how often to save is the user's to say.
    What to do
        Save every few minutes or every few hundred steps, into two files in turn.
    Example
        step 7200, rank 0: 7200 updates in 1.0 h and no checkpoint was seen; expected one every 15 minutes. A crash now
        would lose all of them: save weights, optimizer and step every few hundred updates.
    """

    needs: ClassVar[tuple[type[CheckpointMark] | type[OtherSave] | str, ...]] = (STEP_S, CheckpointMark, OtherSave)
    at_end: ClassVar[bool] = True
    remedies: ClassVar[tuple[str, ...]] = (
        "save weights, optimizer, scheduler, generators and step every few hundred updates, into two files in turn",
    )
    unproved: ClassVar[str] = "takes an hour"

    without_s: float = 3600.0  # seconds of training without any save (ours)
    age_s: float = 900.0  # seconds since the last save at a crash: 15 min (ours)
    steps: int = 100  # updates, in both cases (PaLM went back about 100 steps)

    def judge(self, window: Window) -> Iterator[Finding]:
        """Add up the time since the last save; yield once, and at a crash."""
        if window.ref.rank:
            return  # often only rank 0 saves
        memory = window.memory(self)
        saves: list[Fact] = [*window.new(CheckpointMark), *window.new(OtherSave)]
        if saves:
            memory.update(saved=True, since_s=0.0, since=0)
        took = window.now(STEP_S)
        if took is not None:
            many = 1 + window.skipped  # steps that nobody judges took as long, as a rule
            memory["since_s"], memory["since"] = memory.get("since_s", 0.0) + many * took, memory.get("since", 0) + many
        died = window.ended and window.last(Crash) is not None
        if memory.get("since", 0) >= self.steps:
            yield from self.describe(window, memory, died)

    def describe(self, window: Window, memory: dict[Any, Any], died: bool) -> Iterator[Finding]:
        """Build the finding of what is lost by a crash, or would be lost now."""
        since, since_s, saved = memory["since"], memory["since_s"], memory.get("saved", False)
        if died and since_s >= self.age_s:
            before = (
                f"{spoken(since_s)} and {since} updates after its last checkpoint"
                if saved
                else f"after {spoken(since_s)} and {since} updates without a checkpoint"
            )
            said = (
                f"the program died {before}; expected one every {spoken(self.age_s)}. That work is lost: save weights, "
                "optimizer and step more often."
            )
        elif not died and not saved and since_s >= self.without_s and not memory.get("told"):
            memory["told"] = True
            said = (
                f"{since} updates in {spoken(since_s)} and no checkpoint was seen; expected one every "
                f"{spoken(self.age_s)}. "
                "A crash now would lose all of them: save weights, optimizer and step every few hundred updates."
            )
        else:
            return
        yield self.finding(window, "note", said, age_s=since_s, updates=since)


def spoken(seconds: float) -> str:
    """Format a duration as `1.2 h` or `15 minutes`."""
    return f"{seconds / 3600:.1f} h" if seconds >= 3600 else f"{seconds / 60:.0f} minutes"
