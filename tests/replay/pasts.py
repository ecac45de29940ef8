"""The last steps of a real watched loop, with the real trials that execute them again, and the same steps done by
hand."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from debugtracer.interventions.intervention import interventions
from debugtracer.recorder.state.step_history import StepHistory
from debugtracer.replay.replay_context import ReplayContext
from debugtracer.replay.trials.history_trials import HistoryTrials
from debugtracer.replay.trials.score import Score
from debugtracer.replay.trials.training_trials import TrainingTrials
from debugtracer.session import Session
from tests.watching import under_watch

STEPS = 14
UPDATES = 20  # of a training on them
Make = Callable[[Any], torch.optim.Optimizer]


class Loop:
    """A plain loop over batches made beforehand, and the state in which each of its steps began."""

    def __init__(
        self,
        make: Make = lambda p: torch.optim.Adam(p, lr=1e-2),
        net: Callable[[], nn.Module] | None = None,
        rows: int = 8,
    ) -> None:
        torch.manual_seed(3)
        self.make = make
        self.model = net() if net is not None else nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 1))
        self.optimizer = make(self.model.parameters())
        self.data = [(torch.randn(rows, 4), torch.randn(rows, 1)) for _ in range(STEPS)]
        self.before: list[tuple[Any, Any]] = []
        self.losses: list[float] = []
        self.clear: Callable[[], None] = lambda: self.optimizer.zero_grad()
        self.at: dict[int, Callable[[], None]] = {}
        """Done before that step."""
        self.over: Callable[[], None] = lambda: None
        """Done when all steps are over."""

    def train(self) -> None:
        """All steps."""
        for step, (x, y) in enumerate(self.data):
            self.at.get(step, lambda: None)()
            self.before.append((copy.deepcopy(self.model.state_dict()), copy.deepcopy(self.optimizer.state_dict())))
            self.clear()
            loss = F.mse_loss(self.model(x), y)
            loss.backward()
            self.optimizer.step()
            self.losses.append(loss.item())
        self.over()

    def by_hand(
        self, start: int, order: list[int], change: Callable[[torch.optim.Optimizer], None] = lambda o: None
    ) -> list[float]:
        """Losses of these batches from the state before step `start` on, gradients cleared before each."""
        model = copy.deepcopy(self.model)
        optimizer = self.make(model.parameters())
        model.load_state_dict(self.before[start][0])
        optimizer.load_state_dict(self.before[start][1])
        losses = []
        for n in order:
            optimizer.zero_grad()
            loss = F.mse_loss(model(self.data[n][0]), self.data[n][1])
            loss.backward()
            change(optimizer)
            optimizer.step()
            losses.append(loss.item())
        return losses


@contextlib.contextmanager
def trained(out: Path, loop: Loop, **settings: Any) -> Iterator[tuple[Session, StepHistory, ReplayContext]]:
    """A loop that was watched, its snapshots taken as often as can be, and the past of its last step."""
    with under_watch(out, **settings) as session:
        # the machine of a test has no say in how often
        session.ring.judge = lambda cost_s, step_s: None  # type: ignore[method-assign]
        loop.train()
        past, context = session.ring.past(STEPS - 1), session.incidents.context
        assert past is not None
        assert context is not None
        yield session, past, context


@contextlib.contextmanager
def looked_into(out: Path, loop: Loop, following: bool = False, broken: str = "") -> Iterator[HistoryTrials]:
    """The trials of the last steps of a loop."""
    with (
        trained(out, loop) as (session, past, context),
        session.stack.paused(),
        HistoryTrials(past, context, None, broken) as trials,
    ):
        trials.following = following
        yield trials


@contextlib.contextmanager
def training(out: Path, loop: Loop) -> Iterator[TrainingTrials]:
    """Trials that train again on all the steps of a loop that are kept."""
    with trained(out, loop, trials=0) as (session, _, context), session.stack.paused():
        past = session.ring.longest()
        assert past is not None
        with TrainingTrials(past, context, UPDATES) as trials:
            yield trials


def tried(trials: HistoryTrials, slug: str, value: float | None = None) -> Score:
    """One trial that must run."""
    score = trials.run(type(interventions()[slug])(value))
    assert not score.refused, score.refused
    return score


def bits(loop: Loop) -> list[Tensor]:
    """Everything of the loop that a trial could leave changed."""
    moments = [v for s in loop.optimizer.state.values() for v in s.values() if isinstance(v, Tensor)]
    gradients = [p.grad for p in loop.model.parameters() if p.grad is not None]
    found = [*loop.model.parameters(), *loop.model.buffers(), *moments, *gradients, torch.get_rng_state()]
    return [t.detach().clone() for t in found]
