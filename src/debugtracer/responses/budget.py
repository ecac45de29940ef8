"""How often the program may be kept alive: counters of what was done, fed at the gate."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from debugtracer.recorder.left_out_samples import SHARE
from debugtracer.trace.facts.skipped_batches import LAST

LEAST = 20  # updates that may be left out in any run (the number of rollback/skip-budget)
ROW = 3  # bad steps in a row after which none is left out any more (docs/rationale/checks.md#rb_skip_budget)
ROLL_BACKS, PER = 3, 1000  # roll-backs in so many steps (issue 14)
REPEATS, WITHIN = (
    2,
    50,
)  # roll-backs in so many steps: the cause stays (docs/rationale/checks.md#rb_repeat)


@dataclass
class Budget:
    """One per run. A step here is one call of an optimizer."""

    skips: deque[int] = field(default_factory=deque)
    """Steps whose update was left out, of the last LAST."""
    rolled: deque[int] = field(default_factory=deque)
    """Steps at which the state was put back, of the last PER."""
    parents: set[int] = field(default_factory=set)
    """Steps whose state was put back from the ring."""
    tried: dict[str, list[int]] = field(default_factory=dict)
    """Responses that last for a while, and the steps at which each was taken."""
    unhelpful: dict[str, int] = field(default_factory=dict)
    """Those that were undone because they had not helped, and when."""
    held: int = 0
    """Updates that were left out at the gate, of the whole run."""
    bad_at: int = -2
    iteration: int = -1
    row: int = 0
    """Bad iterations in a row, this one included."""

    stops: int = 0
    """Stops that were raised: more than one where the program catches them."""
    ended: bool = False
    """A response that was to keep the run alive has ended it."""

    def stopped(self) -> int:
        """Count a stop; the answer: how many the program has caught before it."""
        self.stops += 1
        return self.stops - 1

    def forgive(self) -> None:
        """Begin the budget anew: a person has seen what was done."""
        self.skips.clear()
        self.rolled.clear()
        self.parents.clear()
        self.tried.clear()
        self.unhelpful.clear()
        self.row = 0

    def saw_bad(self, step: int, iteration: int) -> None:
        """Count a bad step; those of several optimizers after one backward are one."""
        if iteration != self.iteration:
            self.row = self.row + 1 if step == self.bad_at + 1 else 1
        self.bad_at, self.iteration = step, iteration

    def skipped(self, step: int) -> None:
        """Count an update that was left out."""
        self.skips.append(step)
        self.held += 1

    def dropped(self, step: int) -> None:
        """Count a batch that was not handed to the loop."""
        self.skips.append(step)

    def took(self, slug: str, step: int) -> None:
        """Count a response that lasts for a while."""
        self.tried.setdefault(slug, []).append(step)

    def did_not_help(self, slug: str, step: int) -> str:
        """Note that a response was undone, for what it was to end came again; the answer says how long it was tried."""
        self.unhelpful[slug] = step
        many = step - self.tried[slug][-1] if self.tried.get(slug) else 0
        return f"{many} step{'s' if many != 1 else ''}"

    def refuses_again(self, slug: str, step: int) -> str:
        """Why a response that lasts for a while may not be taken again; empty while it may."""
        at = self.unhelpful.get(slug)
        if at is not None and at > step - PER:
            return f"{slug} had not helped at step {at} and was undone"
        recent = [at for at in self.tried.get(slug, ()) if at > step - PER]
        if len(recent) >= ROLL_BACKS:
            return f"{slug} was taken {len(recent)} times in the last {PER} steps already: the cause stays"
        return ""

    def rolled_back(self, step: int, parent: int | None = None) -> None:
        """Count a roll-back, to the state of step `parent` in the ring; what was bad before it is answered."""
        self.rolled.append(step)
        if parent is not None:
            self.parents.add(parent)
        self.row = 0

    def allowed(self, step: int) -> int:
        """The updates that may be left out among the last LAST."""
        return max(LEAST, int(SHARE * min(step + 1, LAST)))

    def refuses_skip(self, step: int) -> str:
        """Why no further update may be left out; empty while it may."""
        while self.skips and self.skips[0] <= step - LAST:
            self.skips.popleft()
        if self.row >= ROW:
            return f"{self.row} bad steps in a row: leaving updates out has not helped"
        if len(self.skips) >= self.allowed(step):
            every = max(len(self.skips), min(step + 1, LAST))
            return f"{len(self.skips)} of the last {every} updates were left out already"
        return ""

    def refuses_drop(self, step: int) -> str:
        """Why no further batch may be kept from the loop; empty while it may."""
        if step <= self.held and len(self.skips) >= ROW - 1:
            return "no update was written yet: the data are bad from the start"
        return self.refuses_skip(step)

    def refuses_roll_back(self, step: int, parent: int | None = None) -> str:
        """Why the state, or that of step `parent`, may not be put back again; empty while it may."""
        if parent is not None and parent in self.parents:
            return f"the state of step {parent} was put back before, and went bad again: the cause stays"
        while self.rolled and self.rolled[0] <= step - PER:
            self.rolled.popleft()
        if len(self.rolled) >= ROLL_BACKS:
            return f"the state was put back {len(self.rolled)} times in the last {PER} steps already"
        if sum(at > step - WITHIN for at in self.rolled) >= REPEATS:
            return f"the weights went bad again within {WITHIN} steps of a roll-back, {REPEATS} times"
        return ""
