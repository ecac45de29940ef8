"""Asked at a gate whether a bad update is to be written: takes the smallest response that may help, and writes it
down."""

from __future__ import annotations

from collections.abc import Callable

from torch.optim import Optimizer

from debugtracer.errors import swallow
from debugtracer.recorder.listeners import NoPolicy
from debugtracer.recorder.run_state import RunState
from debugtracer.responses.action_log import ActionLog
from debugtracer.responses.bad_samples import BadSamples
from debugtracer.responses.bad_step import BadStep, blames_weights
from debugtracer.responses.budget import Budget
from debugtracer.responses.live_training import LiveTraining
from debugtracer.responses.policy import Policy
from debugtracer.responses.rank_agreement import RankAgreement
from debugtracer.responses.response import Response, responses


class Responder(NoPolicy):
    """One per process, in modes val and prod. On the plain path it costs one comparison a step."""

    def __init__(
        self,
        state: RunState,
        policy: Policy,
        training: LiveTraining,
        ranks: RankAgreement,
        log: ActionLog,
        samples: BadSamples,
        stopped: Callable[[], type[BaseException]],
    ) -> None:
        """Join what decides and what acts; `stopped` gives what the end of the run is raised as."""
        self.state, self.policy, self.training = state, policy, training
        self.ranks, self.log, self.samples, self.stopped = ranks, log, samples, stopped
        self.budget = Budget()
        self.samples.reset(self.budget)

    def reset(self) -> None:
        """Reset for a new run: nothing was done yet."""
        self.budget = Budget()
        self.samples.reset(self.budget)
        self.log.reset()

    def skip_step(self) -> bool:
        """Skip none; look what came of the last action where that is due."""
        if self.state.step >= self.log.due:
            self.log.measure(self.state.step)
        return False

    def holds(self, optimizer: Optimizer, obstacle: str = "") -> bool:
        """Whether to leave the write of a bad step out. Raises the stop where nothing smaller helps."""
        return self.answered(optimizer, obstacle, written=False)

    def wrote_bad_weights(self, optimizer: Optimizer) -> None:
        """Take an update back that has left weights which are not finite. Raises the stop where that cannot be."""
        self.answered(optimizer, "", written=True)

    def answered(self, optimizer: Optimizer, obstacle: str, *, written: bool) -> bool:
        """Answer a bad step, guarded; True when its update is not to be written."""
        try:
            bad = self.look(optimizer, obstacle, written)
            if not bad.is_bad:
                return False  # a norm that was read late had overflowed
            self.state.quiet_until_healthy = True  # the next gate reads every number, whatever rests
            response = self.choose(bad)
            if response is None:
                return False
            done = response.take(bad, self.budget, self.training)
            self.log.took(bad, response.slug, done)
            if response.leaves_out:
                self.samples.learn(bad, self.state.verdict)
        except Exception as error:
            swallow("responses.responder", error)
            return False
        finally:
            self.state.health.forget()
        if self.budget.ended:
            self.log.took(bad, "stop", "the run was stopped: it had waited for a person")
        if response.ends or self.budget.ended:
            raise self.stopped()
        return not written

    def look(self, optimizer: Optimizer, obstacle: str, written: bool) -> BadStep:
        """Collect what is known of a bad step."""
        state, health = self.state, self.state.health
        verdict = state.verdict if state.verdict is not None and state.verdict.step == state.step else None
        iteration = max(state.iteration - 1, 0)
        return BadStep(
            step=state.step,
            iteration=iteration,
            optimizer=optimizer,
            loss=health.loss,
            gradient=health.gradient,
            sibling=health.sibling,
            weights=self.training.weights_are_bad(optimizer),
            written=written,
            obstacle=obstacle,
            cause=verdict.cause if verdict is not None else None,
            weights_to_blame=verdict is not None and blames_weights(verdict.trials),
            samples=self.training.samples(),
        )

    def choose(self, bad: BadStep) -> Response | None:
        """The smallest response that is not refused; None where nothing may be done, which is said once."""
        why = bad.obstacle or self.ranks.refuses(bad)
        if why:
            self.log.left_alone(bad, why)
            return None
        self.budget.saw_bad(bad.step, bad.iteration)
        refused: list[str] = []
        found = self.smallest(bad, refused)
        if found is None:
            return None
        ending = self.ranks.any_ends(found.ends)
        if ending is None:
            self.log.left_alone(bad, self.ranks.off)
            return None
        if ending and not found.ends:
            refused, found = ["another rank cannot go on"], responses()["stop"]
        self.log.refused(refused)
        return found

    def smallest(self, bad: BadStep, refused: list[str]) -> Response | None:
        """Find the first response that is allowed and does not refuse; why others did is added to `refused`."""
        for slug in self.policy.allowed(bad.cause):
            response = responses()[slug]
            why = self.policy.refuses(slug, bad) or response.refuses(bad, self.budget, self.training)
            if not why:
                return response
            refused.append(why)
        return None
