"""What clocks inside our functions miss, learnt in the program itself: how much more of a core its steps take while all
works than while all rests, beside how much more our clocks have read.

(docs/rationale/performance.md#unseen)"""

from __future__ import annotations

import statistics
from collections import deque
from collections.abc import Sequence

# what clocks miss of each second that they read, where a program has never rested: the way into our functions and out,
# colder caches, memory to collect; a mean over ten loops (benchmarks/told_share.py)
UNSEEN = 0.4
# the same in steps at rest, of which clocks see the least: 0.5, 0.9 and 1.0 in three loops (its --rests)
REST_UNSEEN = 0.8
KEPT = 32  # blocks of steps of each kind whose means are compared (ours)
# of so many values, and of fewer, the highest and the lowest do not count (ours): close looks, waits for a core
TAIL = 8
ENOUGH = 4  # blocks of each kind below which nothing is learnt (ours)
# blocks at rest in a row that are compared (ours): what steps take minutes later has another reason
NEAR = 8
# seconds missed of a second read, at least and at most (ours): ten loops gave 0.1 to 1.0, other jobs disturb, and a
# program whose steps grow longer meanwhile would say that nothing is missed
LEAST, MOST = 0.2, 2.0


class UnseenCost:
    """One per process. Told of each step, and of blocks of steps by the thread's clock; seconds of a core. What is
    missed of a step is much the same in each that is recorded, however closely it is looked at."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Begin anew, with what ten other loops gave."""
        self.each_s: float | None = None
        """What clocks miss of a step in which all works; None where it is not learnt."""
        self.work_steps = self.work_own_s = 0.0
        """Steps in which all worked, each as often as the wall's clock went on faster than the thread's; and what
        clocks have read in them."""
        self.rest_own_s = 0.0
        """What clocks have read in steps at rest."""
        self.at_work: deque[tuple[float, float]] = deque(maxlen=KEPT)
        self.at_rest: deque[tuple[float, float]] = deque(maxlen=KEPT)
        """Seconds of a step, and those that clocks read in it."""
        self.rested = 0
        """Blocks at rest since the last one at work."""

    def count(self, works: bool, steps: int, own_s: float, pace: float) -> float:
        """Count steps in which clocks read so much of ours, and return what they have missed, on the wall; the thread
        had `pace` of a core. Under a microsecond."""
        if not works:
            self.rest_own_s += own_s
            return REST_UNSEEN * own_s
        self.work_steps += steps / pace
        self.work_own_s += own_s
        return UNSEEN * own_s if self.each_s is None else self.each_s * steps / pace

    def seconds(self, own_s: float) -> float:
        """What clocks have missed in the whole run, of which they read so much, on the wall."""
        known_s = self.work_own_s if self.each_s is not None else 0.0
        missed_s = self.each_s * self.work_steps if self.each_s is not None else 0.0
        rest_s = min(self.rest_own_s, own_s)
        return missed_s + REST_UNSEEN * rest_s + UNSEEN * max(own_s - rest_s - known_s, 0.0)

    def take(self, works: bool | None, step_s: float, own_s: float) -> None:
        """Take what a step has taken in a block of steps in which all worked, or all rested; None: in the first ones,
        which do not count. Some ten microseconds."""
        if works is None:
            return
        self.rested = 0 if works else self.rested + 1
        if self.rested > NEAR:
            return
        (self.at_work if works else self.at_rest).append((step_s, own_s))
        if min(len(self.at_work), len(self.at_rest)) >= ENOUGH:
            self.learn()

    def learn(self) -> None:
        """Compare what is usual in both: what a step at work takes more, less what our clocks have read more."""
        work_s, rest_s = (usual([step_s - own_s for step_s, own_s in kind]) for kind in (self.at_work, self.at_rest))
        work_own_s, rest_own_s = (usual([own_s for _, own_s in kind]) for kind in (self.at_work, self.at_rest))
        missed_s = work_s - rest_s + REST_UNSEEN * rest_own_s
        self.each_s = min(max(missed_s, LEAST * work_own_s), MOST * work_own_s)


def usual(values: Sequence[float]) -> float:
    """The mean without the tails. A median would be that of one kind of step where a loop takes turns: a GAN."""
    tail = max(len(values) // TAIL, 1)
    return statistics.fmean(sorted(values)[tail : len(values) - tail])
