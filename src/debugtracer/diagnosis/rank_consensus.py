"""Ranks agree before each update whether one has an alarm; ranks without one wait for those that investigate."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from torch import nn

from debugtracer.errors import ReplayRefused, swallow
from debugtracer.recorder.alarm import Alarm
from debugtracer.recorder.gate.rank_vote import WORK_S, RankVote, trains_together
from debugtracer.recorder.state.sharded import holds_shards
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.unsharded_weights import UnshardedWeights


@dataclass(frozen=True)
class Decision:
    """What the ranks have agreed on at a gate where at least one has a bad step."""

    mine: bool
    """This rank has something to look into: its own bad loss, or a bad gradient where no rank has a bad loss."""
    together: bool
    """Every rank has answered; False: this one is on its own."""


class RankConsensus:
    """In mode dev a bad step stops every rank; in val and prod all of them answer it alike. Where `sharded` is False,
    ranks with parts of the weights do not meet: mode observe."""

    def __init__(self, roots: Callable[[], Iterable[nn.Module]], sharded: bool = True, work_s: float = WORK_S) -> None:
        """Take what gives the roots, and the seconds that a rank which looks into a step is waited for."""
        self.roots, self.sharded = roots, sharded
        self.vote = RankVote(work_s)
        self.waiting: Alarm | None = None
        """A bad loss of this rank, held until the gate: the others wait for its backward."""
        self.at_gate = False
        self.whole: UnshardedWeights | None = None
        self.refusal = ""
        """Why the sharded weights were not put together."""
        self.known: tuple[int, bool] = (0, False)

    def meets(self) -> bool:
        """Whether the ranks agree at each step; asked again when another root was called."""
        roots = list(self.roots())
        if self.known[0] != len(roots):
            self.known = len(roots), trains_together(roots) and (self.sharded or not holds_shards(roots))
        return self.known[1] and not self.vote.off

    def holds(self, alarm: Alarm) -> bool:
        """True when the alarm has to wait for the gate."""
        if self.at_gate or alarm.symptom != "nan_loss" or alarm.peeked or not self.meets():
            return False
        self.waiting = self.waiting or alarm
        return True

    def taken(self) -> Alarm | None:
        """The alarm that waited."""
        waiting, self.waiting = self.waiting, None
        return waiting

    def any_bad(self, bad: bool) -> bool | None:
        """Whether some rank has a bad loss or gradient at this gate; None where not all have answered."""
        answer = self.vote.ask((bad or self.waiting is not None,))
        return None if answer is None else answer[0] > 0

    def decide(self, bad: bool, is_open: bool = False) -> Decision | None:
        """What is to be done at this gate; None where the ranks do not meet or all is well. Where this rank has an
        incident open, no other needs to look."""
        answer = self.vote.ask((self.waiting is not None or is_open, bad)) if self.meets() else None
        if answer is None:
            return Decision(True, False) if self.waiting is not None else None
        losses, gradients = answer
        if not losses and not gradients:
            return None
        return Decision(self.waiting is not None or (not losses and bad), True)

    @contextlib.contextmanager
    def session(self, context: ReplayContext, max_bytes: int, decision: Decision) -> Iterator[None]:
        """The time in which some ranks look into the step. Sharded weights are put together first, by every rank."""
        self.at_gate = True
        try:
            if decision.together and context.roots.sharded:
                self.gather(max_bytes)
            yield
        finally:
            self.at_gate, self.whole = False, None

    def gather(self, max_bytes: int) -> None:
        """Gather the sharded weights; called on every rank, and each comes to the same answer."""
        try:
            self.whole = UnshardedWeights(self.roots(), max_bytes)
        except ReplayRefused as error:
            self.refusal = str(error)
        except Exception as error:
            self.refusal = f"the sharded weights could not be put together ({type(error).__name__})"
            swallow("diagnosis.rank_consensus", error)

    @contextlib.contextmanager
    def alone(self, context: ReplayContext) -> Iterator[ReplayContext]:
        """Give the whole weights to a replay inside the context, which then needs no other rank."""
        if self.whole is None:
            yield context
            return
        whole, parameters = self.whole, context.parameters
        with whole.entered():
            yield replace(
                context, parameters=lambda optimizer: [whole.parameter(p) for p in parameters(optimizer)], whole=True
            )

    def any(self, opened: bool, decision: Decision) -> bool:
        """Wait until every rank has written its verdict down, for the first to end takes the others with it; True when
        one has an incident. One that is dead or takes too long is left behind: the others go on with what they know."""
        answer = self.vote.ask_after_work((opened,)) if decision.together else None
        return opened if answer is None else answer[0] > 0
