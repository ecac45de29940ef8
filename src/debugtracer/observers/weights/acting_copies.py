"""Finds a copy of a trained model that acts in its place (the behaviour policy of a rollout) and never gets its
weights."""

from __future__ import annotations

from itertools import chain
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, always, inspected
from debugtracer.observers.weights.original_model import distance, original_of
from debugtracer.observers.weights.weight_samples import WeightSamples
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.acting_copy import ActingCopy
from debugtracer.trace.number import number
from debugtracer.trace.step import StepRef

NEAR = 0.5  # of the norm: what began as another network is no copy (ours)
ROUNDS = 4  # after which what is called once or twice in each is let go of (ours)
LONG = 16  # rounds in which it stood before anything is said (ours: a copy may be written every ten)
MANY = 8  # calls in a round: who acts is asked step by step, a teacher once (ours)
FEWER = 4  # times as many values does the trained model get in a call (ours)
MOST = 8  # models watched (ours)
LOOKS = 3  # steps after which nobody is looked for any more (ours: as many as are inspected at the start)


class Actor:
    """One model that is called without a graph: where, how much it is given, and in how many rounds."""

    def __init__(self, model: nn.Module, raw: RawFrames, size: int, step: int) -> None:
        self.raw, self.size = raw, size
        self.held = WeightSamples(list(model.parameters()))
        self.began = self.step = step
        self.rounds = self.calls = 1
        self.fresh = 0
        """Calls that were given something else than a later part of what the one before was given a part of."""
        self.source: tuple[int, int, int] | None = None
        self.ref: StepRef | None = None
        """The step of the round in which it was taken for one that acts."""
        self.stepped: RawFrames | None = None
        """Where the optimizer of its original steps."""
        self.original: WeakRef[nn.Module] | None = None
        self.over = False


class ActingCopiesObserver(Observer):
    """Hears of each call of a model only while there is a copy that may act."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: ById[nn.Module, Actor] = ById()
        self.taught: ById[nn.Module, int] = ById()
        """Models called with a graph -> values of the largest input."""
        self.standing: dict[Actor, ActingCopy] = {}
        """What is said when the run is over, unless the copy moves before."""

    def reset(self) -> None:
        self.known.clear()
        self.taught.clear()
        self.standing.clear()

    @always
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a call: with a graph how much it is given, without one in which round."""
        if torch.is_grad_enabled():
            self.taught[module] = max(self.taught.get(module) or 0, size_of(args, kwargs))
            return
        actor, step = self.known.get(module), self.run.step
        if actor is None:
            root = self.run.state.roots.get(module)
            if root is not None and root.has_parameters and len(self.known) < MOST:
                self.known[module] = Actor(module, raw_frames(2), size_of(args, kwargs), step)
        elif not actor.over:
            source = source_of(args, kwargs)
            actor.calls, actor.fresh = actor.calls + 1, actor.fresh + (not goes_on(actor.source, source))
            actor.source = source
            if actor.step != step:
                actor.step, actor.rounds = step, actor.rounds + 1
                self.begins(module, actor)

    def begins(self, module: nn.Module, actor: Actor) -> None:
        """Begin a round: let go of what is called a few times in each, and of what goes through the rows of a tensor
        that stands (a teacher: what an actor is asked next follows from its answer); look at others each time their
        rounds have doubled, so that the last look is never in the first half of the run."""
        if actor.rounds == ROUNDS:
            few, teaches = actor.calls <= MANY * (actor.rounds - 1), 2 * actor.fresh < actor.calls
            actor.over = actor.stepped is None or few or teaches
            actor.ref = self.run.ref("forward")
        elif actor.rounds >= LONG and actor.rounds & (actor.rounds - 1) == 0:
            self.judge(module, actor)

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Let go of what is no copy that acts; listen to calls no more where none is left."""
        for module, actor in list(self.known.items()):
            if actor.over:
                continue
            original = self.original(module, optimizer)
            apart = distance(module, original) if original is not None else None
            if original is None or apart is None or not self.acts(actor, original) or not actor.held.stand():
                actor.over = True
                self.standing.pop(actor, None)
            elif actor.stepped is None:
                actor.over = apart > NEAR
                actor.stepped, actor.original = raw_frames(2), WeakRef(original)
        if self.run.step >= LOOKS - 1 and all(actor.over for _, actor in self.known.items()):
            self.run.unsubscribe(self.left)

    def original(self, module: nn.Module, optimizer: Optimizer) -> nn.Module | None:
        """The trained model that it is a copy of."""
        trained = {id(p) for one in [*self.run.optimizers, optimizer] for p in parameters(one)}
        return original_of(module, trained, [model for model, _ in self.taught.items()])

    def acts(self, actor: Actor, original: nn.Module) -> bool:
        """Whether it is asked for little at a time, and its original only for what is learnt from."""
        return self.known.get(original) is None and (self.taught.get(original) or 0) >= FEWER * max(actor.size, 1)

    def judge(self, module: nn.Module, actor: Actor) -> None:
        """Note a copy that stands still while it acts; forget one that has moved."""
        self.standing.pop(actor, None)
        original = actor.original() if actor.original is not None else None
        apart = distance(module, original) if original is not None else None
        actor.over = original is None or not apart or not self.acts(actor, original) or not actor.held.stand()
        if actor.over or apart is None or actor.ref is None:
            return
        called, stepped = frames_of(actor.raw), frames_of(actor.stepped) if actor.stepped is not None else ()
        self.standing[actor] = ActingCopy(
            ref=actor.ref, module=type(module).__name__, rounds=actor.rounds, updates=self.run.step - actor.began,
            apart=number(apart), frame=stepped[0] if stepped else None, called=called[0] if called else None,
        )  # fmt: skip

    def ended(self) -> None:
        """Look once more at those that are still there, and emit what never moved."""
        for module, actor in list(self.known.items()):
            if actor in self.standing:
                self.judge(module, actor)
        for fact in self.standing.values():
            self.run.emit(fact)
        self.standing.clear()


def size_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    """The values of the first tensor that a call is given; 0 without one."""
    given = next((a for a in chain(args, kwargs.values()) if isinstance(a, Tensor)), None)
    return given.numel() if given is not None else 0


def source_of(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[int, int, int] | None:
    """The memory of which the first tensor of a call is a part, how often it was written, and where in it the part
    begins; None where it is a tensor of its own."""
    given = next((a for a in chain(args, kwargs.values()) if isinstance(a, Tensor)), None)
    if given is None or given.layout != torch.strided or given.is_inference():
        return None
    store = given.untyped_storage()
    return (
        (store.data_ptr(), given._version, int(given.storage_offset())) if store.nbytes() >= 2 * given.nbytes else None
    )


def goes_on(before: tuple[int, int, int] | None, now: tuple[int, int, int] | None) -> bool:
    """Whether a call goes on where the one before was: with a later part of the same memory, not written since."""
    return before is not None and now is not None and before[:2] == now[:2] and before[2] < now[2]
