"""The snapshot ring: parameters, moments and buffers of some steps ago, and the tapes since, so that the last steps can
be executed again."""

from __future__ import annotations

import math
import statistics
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from time import perf_counter, thread_time

from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.recorder.run_state import several_ranks
from debugtracer.recorder.state.cleared_gradients import cleared_first
from debugtracer.recorder.state.copies import FREE_S, UpdateCopy, identical
from debugtracer.recorder.state.held_bytes import device_s, held_bytes
from debugtracer.recorder.state.host_copy import copying_threads, goes_to_host, host_copy
from debugtracer.recorder.state.kept_tape import batch_bytes, without_carried_graphs, without_graphs
from debugtracer.recorder.state.loop_state import LoopParts, LoopState
from debugtracer.recorder.state.roots import RootState
from debugtracer.recorder.state.step_history import Snapshot, StepHistory, by_loss
from debugtracer.recorder.state.thinning import gives_way
from debugtracer.recorder.tape.step_tape import Segment

SLOTS = 3  # snapshots held: the newest may already hold the fault (ours)
AGED = 5  # older ones beside them in the modes that go back, while ring_bytes allows: they reach 500 steps back (ours)
EVERY = 8  # steps between two snapshots at least (ours: the reach of a trial is one to two dozen steps)
BACK = 4  # times shorter that an interval must be allowed to be before it is taken back (ours)
REACH = 4  # updates before a step that its snapshot should lie back, 2 at least (ours)
MAX_INTERVAL = 200  # steps; a ring that could only afford fewer reaches no spike in time (ours)
# how far a roll-back may go back (PaLM's restarts: some 100), and so between two snapshots in the modes that do (ours)
MAX_ROLLBACK_STEPS = 500
# of step time that snapshots may cost, and the comparison of weights at rest (docs/rationale/performance.md#budget)
SHARE = 0.004
TAPES = SLOTS * EVERY + 2  # segments held at most where snapshots are cheap
MOST_ENTRIES = 2000  # calls of one step; longer ones are not kept (ours)
HABIT = 4  # segments that show whether gradients are carried from one to the next (ours)
STALE = 500  # steps after which a kept past gives way to a smaller jump (as the losses that a spike is measured by)
TAPE_BYTES = 256 * 1024**2  # bytes of batches that held segments keep alive (ours)


class SnapshotRing:
    """Held by the session, which calls it at each closed step."""

    def __init__(
        self,
        parameters: Callable[[Optimizer], list[Tensor]],
        roots: Callable[[], Iterable[nn.Module]],
        max_bytes: int,
        place: str = "auto",
        loop: LoopParts | None = None,
    ) -> None:
        """Build an empty ring; `loop` in the modes that go back to a snapshot: what it holds beside the weights."""
        self.parameters, self.roots, self.max_bytes, self.place = parameters, roots, max_bytes, place
        self.loop = loop
        self.on_host: bool | None = None
        """Snapshots lie in pinned host memory; None until the first one."""
        self.held: deque[Snapshot] = deque()
        self.tapes: deque[Segment] = deque()
        self.bytes: deque[int] = deque()
        self.best: Snapshot | None = None
        """The older one of the lowest loss, with which a loss that rises is compared."""
        self.pinned: StepHistory | None = None
        """The past of the loss that stood out most, kept until somebody looks into it."""
        self.height = 0.0
        """How far that one stood out."""
        self.every = EVERY
        self.off = ""
        """Why no snapshots are taken; empty while they are."""
        self.aged = 0
        """Older snapshots beside the newest SLOTS that memory allows."""
        self.cost_s: list[float] = []
        self.steps_s: list[float] = []
        """Seconds of the steps beside those of the snapshots."""
        self.doubtful = True
        """The last snapshot looked dear: of the next the CPU time is asked too, a system call."""

    def segment(self, closed: Segment, states: Iterable[RootState] = ()) -> None:
        """Keep the tape of a closed step while its batches fit; `states` are those its roots began with."""
        if self.off:
            return
        if self.tapes:
            without_graphs(self.tapes[-1])
        if len(closed.entries) > MOST_ENTRIES:
            self.stop(f"a step makes more than {MOST_ENTRIES} torch calls outside modules")
            return
        if self.held and self.held[-1].number == closed.number:
            self.held[-1].roots = [without_carried_graphs(state) for state in states]
        self.tapes.append(closed)
        self.bytes.append(batch_bytes(closed))
        while len(self.tapes) > max(TAPES, SLOTS * self.every + 2) or sum(self.bytes) > TAPE_BYTES:
            self.tapes.popleft()
            self.bytes.popleft()

    def consider(
        self,
        begins: int,
        step: int,
        optimizers: Iterable[Optimizer],
        step_s: float,
        level: Callable[[], float] = lambda: math.inf,
    ) -> str | None:
        """Take a snapshot of the state in which segment `begins` starts, if one is due; a sentence when the ring is
        switched off. `level` gives the median of the last losses."""
        if self.off or not self.is_due(step):
            return None  # below: also optimizers built before we came
        stepped = [e.args[0] for tape in list(self.tapes)[-HABIT:] for e in tape.entries if e.kind == "step"]
        live = [o for o in {id(o): o for o in (*optimizers, *stepped)}.values() if self.parameters(o)]
        if not live:
            return None
        begin, used = perf_counter(), thread_time() if self.doubtful else None
        held = [p for o in live for p in self.parameters(o)]
        size = sum(held_bytes(p) for p in held) * 4 * (SLOTS + 1)
        if self.on_host is None:
            self.on_host = goes_to_host(self.place, held, size)
        self.aged = 0 if self.loop is None else min(AGED, (self.max_bytes - size) * (SLOTS + 1) // max(size, 1))
        snapshot = self.slot(live, step)
        if size > self.max_bytes:
            what = f"{SLOTS + 1} snapshots of parameters, moments and gradients"
            return self.stop(f"{what} need about {size} bytes, more than ring_bytes ({self.max_bytes})")
        for copy in snapshot.copies:
            copy.take()
        snapshot.gradients = self.carried(live)
        snapshot.buffers.take(self.roots(), bool(self.on_host))
        if (loop := self.loop) is not None:
            snapshot.loop = LoopState(loop.schedulers, loop.scalers, loop.averages.copies(held))
            begin += loop.averages.held_weights.search_s  # now and then alone
        snapshot.number, snapshot.step, snapshot.roots, snapshot.level = begins, step, [], level()
        self.held.append(snapshot)
        cost_s = self.cost(perf_counter() - begin, used, copying_threads(held))
        if cost_s is None or len(self.held) == 1:  # the first one takes its memory too
            return None
        return self.judge(max(cost_s, device_s(live, self.parameters)), step_s)

    def cost(self, elapsed_s: float, used: float | None, threads: int = 1) -> float | None:
        """What a snapshot cost; what other programs take from the machine is no cost of ours. None where only the
        clock calls it dear: the next one will tell."""
        self.doubtful = elapsed_s >= FREE_S
        if used is not None:
            return min(elapsed_s, threads * (thread_time() - used))
        return None if self.doubtful else elapsed_s

    def slot(self, live: list[Optimizer], step: int) -> Snapshot:
        """The snapshot that nobody needs any more, or a new one."""
        older = [s.step for s in self.held][: 1 - SLOTS]
        if len(older) > max(self.aged, 0):
            at = gives_way(older, step, MAX_ROLLBACK_STEPS)
            self.best, oldest = by_loss(self.best, self.held[at], self.fits)
            del self.held[at]
            pinned = None if self.pinned is None else self.pinned.snapshot
            if oldest and oldest is not pinned and oldest.is_of(live) and self.fits(oldest):
                return oldest
        return Snapshot(copies=[UpdateCopy(o, self.parameters(o), bool(self.on_host)) for o in live])

    def copied(self, value: Tensor) -> Tensor:
        """A copy where the snapshots lie."""
        return host_copy(value) if self.on_host else value.clone()

    def fits(self, snapshot: Snapshot) -> bool:
        """True if the optimizers still hold the parameters they held then."""
        alive = [(c, c.optimizer()) for c in snapshot.copies]
        return all(o is not None and identical(c.parameters, self.parameters(o)) for c, o in alive)

    def carried(self, live: list[Optimizer]) -> list[tuple[Tensor, Tensor]] | None:
        """The gradients of now, where a later update may use them; None where the segments of late, from whichever on,
        have cleared their own first."""
        held = [(p, p.grad) for o in live for p in self.parameters(o) if p.grad is not None]
        if held and len(self.tapes) >= HABIT and all(cleared_first(list(self.tapes)[-n:]) for n in range(1, HABIT + 1)):
            return None
        return [(p, self.copied(g.detach())) for p, g in held]

    def judge(self, cost_s: float, step_s: float) -> str | None:
        """Set the interval between snapshots by their cost, of which the lower quartile counts: what else a machine
        does adds to it; return why there will be none any more, if so."""
        if step_s <= 0:
            return None
        self.cost_s, self.steps_s = [*self.cost_s[-6:], cost_s], [*self.steps_s[-6:], step_s]
        usual, step_s = sorted(self.cost_s)[len(self.cost_s) // 4], statistics.median(self.steps_s)
        wanted = EVERY if usual < FREE_S else max(EVERY, math.ceil(usual / (SHARE * step_s)))
        most = self.max_interval()
        if wanted > most and len(self.cost_s) >= 3:
            return self.stop(
                f"a snapshot takes {usual * 1e3:.1f} ms, a step {step_s * 1e3:.1f} ms: only every {wanted}th step "
                "could be kept"
            )
        # doubled, so that where fewer are afforded they are some of the same; back only where far more are. At the end
        # of what is of use several ranks keep doubling: one that took its own last interval would share no step
        doubled = EVERY << math.ceil(math.log2(wanted / EVERY))
        doubled = doubled if several_ranks() else max(wanted, min(most, doubled))
        if (doubled > self.every and len(self.cost_s) > 1) or BACK * doubled <= self.every:
            self.every = doubled
        return None

    def is_due(self, step: int) -> bool:
        """Whether a snapshot is to be taken: the first step of all, then the first after each multiple of the interval,
        so that what else a machine does moves none. Several ranks take theirs on the multiples: they can only go back
        together."""
        if several_ranks():
            return step % self.every == 0
        return not self.held or (step - 1) // self.every > (self.held[-1].step - 1) // self.every

    def stop(self, why: str) -> str:
        """Stop taking snapshots, free what is held and return the reason."""
        self.off, self.best = why, None
        self.held.clear()
        self.tapes.clear()
        self.bytes.clear()
        return why

    def past(self, step: int) -> StepHistory | None:
        """The newest snapshot some updates before a step, and the segments from there to it; None when they are not all
        kept."""
        numbers = {s.number: s for s in self.tapes}
        last = next((s for s in self.tapes if s.first_step == step), None)
        if last is None:
            return None
        for reach in (REACH, 2):
            for snapshot in reversed(self.held):
                past = self.between(snapshot, last.number, numbers)
                if past is not None and past.steps >= reach:
                    return past
        return None

    def between(self, snapshot: Snapshot, last: int, numbers: dict[int, Segment]) -> StepHistory | None:
        """The past from a snapshot to a segment; None unless it leads there: every segment kept, every optimizer that
        stepped and every gradient in it."""
        wanted = range(snapshot.number, last + 1)
        if not all(n in numbers for n in wanted):
            return None
        segments = [numbers[n] for n in wanted]
        stepped = {id(e.args[0]) for s in segments for e in s.entries if e.kind == "step"}
        if not stepped <= {id(c.optimizer()) for c in snapshot.copies} or not self.fits(snapshot):
            return None
        return StepHistory(snapshot, segments) if snapshot.gradients is not None or cleared_first(segments) else None

    def longest(self) -> StepHistory | None:
        """The oldest snapshot whose segments are all kept, up to the newest segment."""
        numbers = {s.number: s for s in self.tapes}
        for snapshot in self.held:
            past = self.between(snapshot, max(numbers, default=-1), numbers)
            if past is not None and past.steps >= REACH:
                return past
        return None

    def newest_good(self, after: int) -> Snapshot | None:
        """The newest snapshot of a step after this one that fits and holds no bad value. Syncs the host."""
        return next(self.good(reversed(self.held), after), None)

    def oldest_good(self, after: int) -> Snapshot | None:
        """The oldest such snapshot. Syncs the host."""
        return next(self.good(self.held, after), None)

    def good_steps(self, after: int) -> tuple[int, ...]:
        """The steps of all such snapshots, the oldest first. Syncs the host."""
        return tuple(snapshot.step for snapshot in self.good(self.held, after))

    def good(self, snapshots: Iterable[Snapshot], after: int) -> Iterator[Snapshot]:
        """The snapshots of a step after this one that fit and hold no bad value."""
        return (s for s in snapshots if s.step > after and self.fits(s) and s.is_finite())

    def pin(self, step: int, height: float = 0.0) -> None:
        """Keep the past of this step although training goes on; one that stood out further stays in its place, unless
        it is long ago. A higher one soon after keeps the first within its reach: the first may be where it began."""
        if self.pinned is None or height > self.height or step - self.pinned.segments[-1].first_step > STALE:
            self.pinned, self.height = self.prolonged(step) or self.past(step) or self.pinned, height

    def prolonged(self, step: int) -> StepHistory | None:
        """The pinned past led on to a later step; None when that is further than a trial reaches."""
        last = next((s for s in self.tapes if s.first_step == step), None)
        if self.pinned is None or last is None or last.number - self.pinned.segments[0].number > TAPES:
            return None
        numbers = {s.number: s for s in (*self.pinned.segments, *self.tapes)}
        return self.between(self.pinned.snapshot, last.number, numbers)

    def take_pinned(self, step: int) -> StepHistory | None:
        """The past of a step, pinned or still at hand, the shorter that reaches back far enough; the pin is let go."""
        pinned, self.pinned = self.pinned, None
        known = [pinned.up_to(step) if pinned is not None else None, self.past(step)]
        return min((p for p in known if p is not None), key=lambda p: (p.steps < REACH, p.steps), default=None)

    def max_interval(self) -> int:
        """The largest number of steps between two snapshots that is still of use: for trials of a jump of the loss, and
        for a roll-back in the modes that take the parts of the loop along."""
        return MAX_INTERVAL if self.loop is None else MAX_ROLLBACK_STEPS

    def begin_with(self, snapshot: Snapshot) -> None:
        """Drop what came after a snapshot that was put back; older ones stay, for it may go bad again."""
        older = [held for held in self.held if held.step < snapshot.step]
        self.reset()
        self.held.extend((*older, snapshot))

    def reset(self) -> None:
        """Reset to an empty state; called in a forked child."""
        self.held.clear()
        self.tapes.clear()
        self.bytes.clear()
        self.pinned = self.best = None
