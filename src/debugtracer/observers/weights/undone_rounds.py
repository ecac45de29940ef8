"""Compares what load_state_dict gives to a module under training with what it gave the last time: are all updates in
between written over, and did anybody use them?"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.callsites.frames import frames_of, raw_frames
from debugtracer.errors import guarded
from debugtracer.hooks.hook import OutermostCalls
from debugtracer.hooks.skipped_code import compiling
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.observers.weights.weight_samples import WeightSamples, is_readable, sample
from debugtracer.recorder.run_state import RunState, parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.undone_round import UndoneRound

MOST = 8  # modules that are followed (ours)
ROUNDS = 12  # of one module (ours)
LONGEST = 10_000  # updates between two loads (ours): longer ones are stages of a training


class LoadedModule:
    """A module whose weights an optimizer trains and that was given a state in between."""

    def __init__(self, number: int, trained: Sequence[Tensor], holders: Sequence[Optimizer]) -> None:
        self.number, self.count = number, len(trained)
        self.samples = WeightSamples(trained)
        self.holders = [WeakRef(one) for one in holders]
        self.rounds = 0
        self.over = False
        self.step = self.iteration = 0
        self.read = -1
        self.moved = False

    def begin(self, state: RunState) -> None:
        """Begin a round: the module has just been given its weights."""
        self.step, self.iteration = state.step, state.iteration
        self.read, self.moved = -1, False

    def holds(self, optimizer: Optimizer) -> bool:
        """Whether an optimizer is one of those that train the module."""
        return any(reference() is optimizer for reference in self.holders)

    def used(self, state: RunState) -> bool:
        """Whether anything ran after the last update, or the state was read: a backward more than the updates have
        needed is one of a loss that no update follows."""
        updates, backwards = state.step - self.step, state.iteration - self.iteration
        even = updates > 0 and backwards > 0 and (updates % backwards == 0 or backwards % updates == 0)
        return state.forward_since or self.read == state.step or not even


class UndoneRoundsObserver(Observer):
    """Reads samples around loads alone: nothing in a step."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.calls = OutermostCalls()
        self.known: ById[nn.Module, LoadedModule] = ById()
        self.made = 0

    def install(self) -> None:
        """Patch the calls by which a state is read and given."""
        self.calls.off = False
        taken = guarded("observers.undone_rounds: state_dict")(self.taken)
        self.calls.patches.wrap(nn.Module, "state_dict", lambda original: self.calls.after(original, taken))
        self.calls.patches.wrap(nn.Module, "load_state_dict", self.before)

    def remove(self) -> None:
        self.calls.close()

    def reset(self) -> None:
        self.known.clear()
        self.made = 0

    def taken(self, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """Note that the weights of a module, of a part of it or of what it is part of, were read."""
        if not args or self.run.off:
            return
        for module, loaded in list(self.known.items()):
            if not loaded.over and (is_in(args[0], module) or is_in(module, args[0])):
                loaded.read = self.run.step

    def before(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Look at a module before it is given a state."""
        look = guarded("observers.undone_rounds: load_state_dict")(self.given)

        @functools.wraps(original)
        def method(module: nn.Module, /, *args: Any, **kwargs: Any) -> Any:
            if not compiling() and not self.calls.passes():
                look(module)
            return self.calls.inside(original, module, *args, **kwargs)

        return method

    def given(self, module: nn.Module) -> None:
        """Note whether updates have moved the weights since the load before."""
        loaded = self.known.get(module)
        if loaded is not None and not loaded.over and not self.run.off and self.run.step > loaded.step:
            with torch.no_grad(), self.run.paused():
                loaded.moved = not loaded.samples.stand()

    def restored(self, word: str, owner: Any) -> None:
        """Compare a load of weights with the load before it."""
        if word == "optimizer":
            for _, known in list(self.known.items()):
                known.over |= known.holds(owner)  # each round starts anew, on purpose
        loaded = self.known.get(owner) if word == "weights" else None
        if word != "weights" or not self.run.state.stepped or (loaded is not None and loaded.over):
            return
        held = {id(p): one for one in self.run.optimizers for p in parameters(one)}
        trained = [p for p in owner.parameters() if id(p) in held and is_readable(p)]
        holders = {id(held[id(p)]): held[id(p)] for p in trained}
        with torch.no_grad():
            if loaded is not None:
                loaded.over = not all(loaded.holds(one) for one in holders.values())
                self.compare(owner, loaded, trained)
            elif trained and len(list(self.known.items())) < MOST:
                loaded = self.known[owner] = LoadedModule(self.made, trained, list(holders.values()))
                self.made += 1
        if loaded is not None:
            loaded.begin(self.run.state)

    def compare(self, module: nn.Module, loaded: LoadedModule, trained: Sequence[Tensor]) -> None:
        """Emit one round; a module whose updates are not lost is not looked at again."""
        back, updates = loaded.samples.stand(), self.run.step - loaded.step
        holder = next((o for o in self.run.optimizers if loaded.holds(o)), None)
        if loaded.over or holder is None or not back or updates > LONGEST:
            loaded.over = True
        elif updates:
            used, outer = loaded.used(self.run.state), self.outer(loaded, trained)
            self.run.emit(
                UndoneRound(
                    ref=self.run.ref("update", self.run.iteration - 1), module=loaded.number,
                    name=type(module).__name__, kind=type(holder).__name__, built=self.run.built_at(holder),
                    number=loaded.rounds, updates=updates, moved=loaded.moved, back=back, used=used, outer=outer,
                    params=loaded.count, loads=next(iter(frames_of(raw_frames(2)[:1])), None),
                )
            )  # fmt: skip
            loaded.rounds += 1
            loaded.over = used or outer or not loaded.moved or loaded.rounds >= ROUNDS

    def outer(self, loaded: LoadedModule, trained: Sequence[Tensor]) -> bool:
        """Whether another optimizer trains these weights, or others of the same values."""
        own = {id(p) for p in trained}
        first = next((p for p in trained if p.dim() > 1), None)
        for one in self.run.optimizers:
            for p in [] if loaded.holds(one) else parameters(one):
                if id(p) in own:
                    return True
                alike = first is not None and p.shape == first.shape and p.device == first.device and is_readable(p)
                if alike and first is not None and bool(torch.equal(sample(p), sample(first))):
                    return True
        return False


def is_in(part: nn.Module, whole: nn.Module) -> bool:
    """Whether a module is another one or lies within it."""
    return any(module is part for module in whole.modules())
