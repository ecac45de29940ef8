"""Keeps the time that watching takes under a promised share of the time that training takes: what is dear and worth
least rests first.

(docs/rationale/performance.md#governor)"""

from __future__ import annotations

import enum
from collections.abc import Callable, Container
from time import perf_counter, thread_time

from debugtracer.recorder.run_state import OWN_UPDATES, RunState, several_ranks

FIRST_STEPS = 50  # steps that are not counted: buffers are made and structure is learned (docs/cost.md)
GRACE_S = 3.0  # seconds on top of the share (ours): verdicts of short runs (docs/rationale/performance.md#governor)
# seconds of ours after which steps count before the 50th (ours: as much again as every run is given; steps of
# milliseconds do not come near, steps of seconds would pay minutes)
FIRST_S = GRACE_S
SLOWEST = 1 / 3  # of a core that a training thread has, below which its seconds are not stretched (ours)
LEAST_SHARE = 0.02  # of a core, below which a look at the clocks is not believed (ours)
CLOCK_STEPS = 16  # steps between two looks at the thread's clock (ours): a look costs 75 to 270 us in some sandboxes
CLOCK_S = 0.05  # seconds of steps between them at least (ours)
CLOCK_MOST_S = 10.0  # and at most (ours): a look in which the machine slept says nothing of the next
LOOK_SHARE = 1e-3  # of the time, which looks take at most (ours): steps of a millisecond feel half a percent
DEBT_S = 5.0  # seconds of debt at most (ours): one dear moment does not silence the rest of a run
# seconds above its limit from which a part works again (ours): the tape comes back for several steps in a row, as a
# jump of the loss needs
BLOCK_S = 0.05


class Part(enum.IntEnum):
    """What may rest, in the order in which it does. The loss never rests; the norm of the gradients only where nobody
    holds an update back, and only some of the steps."""

    LOOKS = 0  # close looks at a step, after the first three
    SUMMARIES = 1  # values of batches, weights compared between two updates
    COPIES = 2  # copies before an update, snapshots of the ring
    TAPE = 3  # calls of the step: without them it is executed again from its batch alone
    OBSERVERS = 4  # what is asked of every step beside loss and gradient: order of calls, schedules, modes, parameters
    CALLS = 5  # root calls and batches: what is left is the loss, the norm of the gradients and the gate
    GRADIENTS = 6  # that norm, in all steps but some: where all else rests and it is still more than promised
    STEPS = 7  # whole steps, all but some: where that is not enough


LIMITS_S = {
    Part.LOOKS: 0.6,
    Part.SUMMARIES: 0.4,
    Part.COPIES: 0.2,
    Part.TAPE: 0.0,
    Part.OBSERVERS: -0.1,
    Part.CALLS: -0.3,
    Part.GRADIENTS: -0.3,  # of what was gained since root calls rest: the debt from before is not theirs
    Part.STEPS: -0.3,  # since that norm rests
}
WORDS = {
    Part.LOOKS: "close looks",
    Part.SUMMARIES: "values of batches and of weights at rest",
    Part.COPIES: "copies and snapshots",
    Part.TAPE: "the tape",
    Part.OBSERVERS: "observers",
    Part.CALLS: "root calls and batches",
    Part.GRADIENTS: "the norm of the gradients",
    Part.STEPS: "whole steps",
}
# part -> the one before it: what was gained since that one rests decides about it
AFTER = {Part.GRADIENTS: Part.CALLS, Part.STEPS: Part.GRADIENTS}


def clocks() -> tuple[float, float]:
    """The CPU seconds of this thread, and the seconds on the wall."""
    return thread_time(), perf_counter()


class Governor:
    """One per process: a balance of seconds that training fills and watching spends, settled once a step. They are
    seconds of a core: what else runs on the machine does not use up what is given to a short run."""

    def __init__(
        self,
        cost: float,
        state: RunState,
        read: Callable[[], tuple[float, float]] = clocks,
        kept: Container[Part] = (),
    ) -> None:
        """Take the promised share of training time; 1 or more lets nothing rest. What is `kept` never rests."""
        self.cost, self.state, self.read, self.kept = cost, state, read, kept
        self.pace = 1.0
        """CPU seconds that the training thread had in a second, as of the last steps."""
        self.share = 1.0
        """The same, as it was measured."""
        self.is_pace_known = False
        self.read_at = read()
        self.clock_s = CLOCK_S
        """Seconds of steps between two looks at the clock."""
        self.begin_block()
        self.balance_s = GRACE_S
        self.seen_own_s = self.seen_judge_s = 0.0
        """Seconds of ours that are settled, as clocks have read them."""
        self.incident_s = 0.0
        """Seconds that went into incidents so far."""
        self.spared_s = GRACE_S
        """Seconds that what follows the next incident is given."""
        self.first_s = 0.0
        """Seconds of ours in the first steps."""
        self.resting_s = dict.fromkeys(AFTER, 0.0)
        """What was gained since the part before each rests, 0 at most."""
        self.working = dict.fromkeys(Part, True)

    def resume(self) -> None:
        """Measure anew from here on: what ran since the last step was not watched."""
        self.read_at = self.read()
        self.begin_block()

    def affords(self, part: Part) -> bool:
        """Whether a part works in the step in flight; the answer changes between two steps alone."""
        return self.working[part]

    def step_closed(self) -> None:
        """Count the seconds of the step that is over into the balance, and decide about the next. Two microseconds."""
        self.steps_closed(self.state.step_s, 1)

    def steps_closed(self, seconds: float, steps: int) -> None:
        """Count several steps of so many seconds together, in which the same parts rested."""
        state = self.state
        own_s, self.seen_own_s = max(state.own_s - self.seen_own_s, 0.0), state.own_s
        judge_s, self.seen_judge_s = max(state.judge_s - self.seen_judge_s, 0.0), state.judge_s
        spent_s = own_s + state.unseen.count(self.working[Part.OBSERVERS], steps, own_s, self.share) + judge_s
        if self.cost >= 1:
            return
        self.block_steps += steps
        self.block_own_s += own_s
        self.block_s += seconds
        self.block_kinds.add(self.working[Part.OBSERVERS] if state.step > FIRST_STEPS else None)
        if self.block_steps >= CLOCK_STEPS and self.block_s >= self.clock_s:
            self.look_at_clock()
        if state.step <= FIRST_STEPS:
            self.first_s += spent_s
            if self.pace * self.first_s > FIRST_S and not self.is_pace_known:
                self.look_at_clock()  # on a full machine three close looks take seconds before the sixteenth step
            if self.pace * self.first_s <= FIRST_S:
                return
        for part, works in self.working.items():
            if not works and steps > 1 and part not in AFTER:
                state.rested[WORDS[part]] += steps - 1
        gained_s = self.pace * (self.cost * max(seconds - spent_s, 0.0) - spent_s)
        self.balance_s = min(max(self.balance_s + gained_s, -DEBT_S), GRACE_S)
        for part, before in AFTER.items():
            least_s = LIMITS_S[part] - BLOCK_S
            more_s = min(max(self.resting_s[part] + gained_s, least_s), 0.0)
            self.resting_s[part] = 0.0 if self.working[before] else more_s
        if state.incident_s > self.incident_s:
            self.spare(state.incident_s)
        if self.balance_s < GRACE_S or not all(self.working.values()):
            self.decide()

    def spare(self, incident_s: float) -> None:
        """Record whole what follows an incident: half as many seconds of it as the time before, so that a loss which
        jumps for hours gets twice the first at most."""
        self.balance_s = max(self.balance_s, self.spared_s)
        self.incident_s, self.spared_s = incident_s, self.spared_s / 2

    def look_at_clock(self) -> None:
        """Measure how much of a core the training thread has, and what clocks inside our functions miss."""
        begin = perf_counter()
        before, self.read_at = self.read_at, self.read()
        self.clock_s = min(max(CLOCK_S, (perf_counter() - begin) / LOOK_SHARE), CLOCK_MOST_S)
        cpu_s, wall_s = self.read_at[0] - before[0], self.read_at[1] - before[1]
        self.share = min(max(cpu_s / wall_s, LEAST_SHARE), 1.0) if wall_s > 0 else 1.0
        self.pace, self.is_pace_known = max(self.share, SLOWEST), True
        if wall_s > 0 and len(self.block_kinds) == 1:
            share, incident_s = cpu_s / wall_s, self.state.incident_s - self.block_incident_s
            step_s = max(cpu_s - share * incident_s, 0.0) / self.block_steps
            self.state.unseen.take(self.block_kinds.pop(), step_s, share * self.block_own_s / self.block_steps)
        self.begin_block()

    def begin_block(self) -> None:
        """Begin to count steps until the next look at the clocks."""
        self.block_steps, self.block_incident_s = 0, self.state.incident_s
        self.block_own_s = self.block_s = 0.0
        self.block_kinds: set[bool | None] = set()
        """Whether all worked in them, or all rested; None in the first steps."""

    def decide(self) -> None:
        """Let parts rest below their limits and work again above them."""
        for part, limit_s in LIMITS_S.items():
            balance_s = self.resting_s.get(part, self.balance_s)
            enough = balance_s >= limit_s + (0.0 if self.working[part] else BLOCK_S)
            # before a first step it is not known what the loop is
            known = self.state.stepped or self.state.own_updates >= OWN_UPDATES
            enough = enough or (part is Part.OBSERVERS and not known)
            # ranks record each step alike: one executes a step again with what the others have of it
            self.working[part] = enough or part in self.kept or (part >= Part.TAPE and several_ranks())
            if not self.working[part] and part not in AFTER:  # they are counted where they are left out
                self.state.rested[WORDS[part]] = self.state.rested.get(WORDS[part], 0) + 1

    def reset(self) -> None:
        """Begin anew, in a forked child and in a run after another one."""
        self.balance_s, self.spared_s, self.incident_s, self.first_s = GRACE_S, GRACE_S, 0.0, 0.0
        self.resting_s = dict.fromkeys(AFTER, 0.0)
        self.seen_own_s = self.seen_judge_s = 0.0
        self.pace = self.share = 1.0
        self.is_pace_known = False
        self.clock_s = CLOCK_S
        self.resume()
        self.working.update(dict.fromkeys(Part, True))
