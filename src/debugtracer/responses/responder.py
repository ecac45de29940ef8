"""Asked at a gate whether a bad update is to be written: takes the smallest response that may help, and writes it
down."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch.optim import Optimizer

from debugtracer.errors import swallow
from debugtracer.recorder.listeners import NoPolicy
from debugtracer.recorder.run_state import RunState, several_ranks
from debugtracer.responses.action_log import ActionLog
from debugtracer.responses.bad_samples import BadSamples
from debugtracer.responses.bad_step import BadStep, blames_weights
from debugtracer.responses.budget import Budget
from debugtracer.responses.live_training import LiveTraining
from debugtracer.responses.policy import Policy
from debugtracer.responses.rank_agreement import RankAgreement
from debugtracer.responses.response import Response, responses

FAILED = 5  # updates in a row that a GradScaler leaves out before something else is tried (issue 14)
SEARCHED = 20  # updates in a row left out by a scale above 1: longer than from any usual scale to 1 (ours)
GIVE_UP = 10  # and before the run is ended (ours: twice as many)


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

    def end(self) -> None:
        """End what lasts for a while: nobody watches any more."""
        self.training.lasting.end()
        self.training.end_saving()

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

    def scaler_failed(self, optimizer: Optimizer, times: int) -> None:
        """Answer a GradScaler that leaves every update out. Raises the stop where nothing smaller helps."""
        if times >= FAILED and times % FAILED == 0:
            self.answered(optimizer, "", written=False, failed_unscales=times)

    def scale_too_high(self, optimizer: Optimizer, scaler: Any, times: int) -> None:
        """Answer a search for a scale that takes too long; what else goes wrong in this step is answered elsewhere."""
        if times < SEARCHED or times % SEARCHED:
            return
        try:
            bad = BadStep(self.state.step, max(self.state.iteration - 1, 0), optimizer, scaler=scaler, overflows=times)
            if several_ranks():
                self.log.left_alone(bad, "scalers of several ranks are not answered together")
                return
            refused: list[str] = []
            response = self.smallest(bad, refused)
            if response is not None:
                self.log.took(bad, response.slug, response.take(bad, self.budget, self.training))
            elif refused:
                self.log.left_alone(bad, "; ".join(refused))
        except Exception as error:
            swallow("responses.responder", error)

    def answered(self, optimizer: Optimizer, obstacle: str, *, written: bool, failed_unscales: int = 0) -> bool:
        """Answer a bad step, guarded; True when its update is not to be written."""
        try:
            bad = self.look(optimizer, obstacle, written)
            bad = replace(bad, failed_unscales=failed_unscales, gradient=bad.gradient or bool(failed_unscales))
            if not bad.is_bad:
                return False  # a norm that was read late had overflowed
            if written and several_ranks():
                return False  # the other ranks may know nothing of it; the next reduced gradient is bad on all of them
            bad = self.seen_by_all(bad)
            self.state.quiet_until_healthy = True  # the next gate reads every number, whatever rests
            self.undo_what_did_not_help(bad)
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
        return not (written or response.writes)

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
            reported=health.reported,
            weights=self.training.weights_are_bad(optimizer),
            written=written,
            obstacle=obstacle,
            cause=verdict.cause if verdict is not None else None,
            weights_to_blame=blames_weights(verdict.trials if verdict else (), self.training.loss_had_risen()),
            samples=self.training.samples(),
            guilty=tuple(verdict.sample_index or ()) if verdict is not None else (),
        )

    def seen_by_all(self, bad: BadStep) -> BadStep:
        """The bad step as all ranks see it: where the weights of one are bad, all go back, to a step that all of them
        hold."""
        if not several_ranks() or self.ranks.refuses(bad) or not self.ranks.any_weights_bad(bad.weights):
            return bad
        self.training.agree_on(self.ranks.newest_common(self.training.good_steps()))
        return replace(bad, weights=True, elsewhere=not bad.weights)

    def undo_what_did_not_help(self, bad: BadStep) -> None:
        """End the responses that last for a while and were to keep this very thing from coming again."""
        budget = self.budget
        if (bad.weights or bad.weights_to_blame) and self.training.lasting.end_lowered_rates():
            since = budget.did_not_help("roll-back", bad.step)
            self.log.undid(bad, f"the learning rate is the program's own again: a lower one has not helped for {since}")
        for slug in self.training.lasting.end_chosen() if bad.cause in self.policy.chosen else ():
            self.log.undid(bad, f"{slug} is over: it has not helped for {budget.did_not_help(slug, bad.step)}")
        if bad.failed_unscales and self.training.lasting.end_full_precision():
            since = budget.did_not_help("full-precision", bad.step)
            self.log.undid(bad, f"autocast is on again: full precision has not helped for {since}")

    def choose(self, bad: BadStep) -> Response | None:
        """The smallest response that is not refused; None where nothing may be done, which is said once."""
        why = bad.obstacle or self.ranks.refuses(bad)
        if why:
            self.log.left_alone(bad, why)
            return None
        if bad.failed_unscales and several_ranks():
            self.log.left_alone(bad, "scalers of several ranks are not answered together")
            return None
        self.budget.saw_bad(bad.step, bad.iteration)
        refused: list[str] = []
        found = self.smallest(bad, refused)
        if found is None or (0 < bad.failed_unscales < GIVE_UP and found.slug in ("pause", "stop")):
            return None
        agreed = self.ranks.farthest(found.slug, tuple(responses()))
        if agreed is None:
            self.log.left_alone(bad, self.ranks.off)
            return None
        if agreed != found.slug:
            refused, found = [f"another rank needs {agreed}"], responses()[agreed]
        self.log.refused(refused)
        return found

    def smallest(self, bad: BadStep, refused: list[str]) -> Response | None:
        """Find the first response that is allowed and does not refuse; why others did is added to `refused`."""
        for slug in self.policy.allowed(bad.cause):
            response = responses()[slug]
            if not response.answers(bad):
                continue
            why = self.policy.refuses(slug, bad) or response.refuses(bad, self.budget, self.training)
            if not why:
                return response
            refused.append(why)
        return None
