"""Several ranks answer a bad step alike, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from debugtracer.recorder.gate.rank_vote import RankVote, trains_together
from debugtracer.recorder.run_state import RunState, several_ranks
from debugtracer.responses.bad_step import BadStep


class RankAgreement:
    """One per process. A reduced gradient is the same on every rank, so all of them come here at the same step: no rank
    is asked while all is well. Of sharded weights each rank sees a part: there the gate has asked all of them."""

    def __init__(self, state: RunState, vote: RankVote) -> None:
        """Ask with this vote: all questions of a process are numbered together."""
        self.state, self.vote = state, vote

    @property
    def off(self) -> str:
        """Why the ranks do not ask each other any more; empty while they do."""
        return self.vote.off

    def refuses(self, bad: BadStep) -> str:
        """Why this rank may not act, one clause; empty where it is alone or all ranks see the same."""
        if not several_ranks():
            return ""
        if not trains_together(self.state.roots.alive()):
            return "the ranks train no common model (DistributedDataParallel, fully_shard): they may not agree"
        if not (bad.gradient or bad.sibling or self.state.roots.sharded):
            return "no bad gradient was reduced here, so the other ranks may write this update"
        return self.off

    def any_weights_bad(self, weights: bool) -> bool | None:
        """True when the weights of some rank are bad; None when not all ranks have answered."""
        answer = self.vote.ask((weights,))
        return None if answer is None else answer[0] > 0

    def one_word(self, seconds: float, wait: Callable[[float], str]) -> str:
        """The word of a person, `resume` or `stop`: of several ranks rank 0 waits for it and all take the same; `stop`
        where none came."""
        return (self.vote.word_of_first(seconds, wait) or "stop") if several_ranks() else wait(seconds)

    def newest_common(self, steps: Iterable[int]) -> int | None:
        """The newest of the steps that every rank holds a good snapshot of; None without one."""
        return max(self.vote.common(steps) or (), default=None)

    def farthest(self, own: str, order: Sequence[str]) -> str | None:
        """The answer that all ranks take: of those that they have found, the last in this order. None when not all
        have answered."""
        if not several_ranks():
            return own
        votes = self.vote.ask(own == slug for slug in order)
        if votes is None:
            return None
        return max((slug for slug, count in zip(order, votes, strict=True) if count), key=order.index, default=own)
