"""Follows train() and eval(): which layers of a trained module are in which mode when backward begins."""

from __future__ import annotations

import functools
import weakref
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.dropout import _DropoutNd

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.hooks.hook import Patches
from debugtracer.hooks.skipped_code import compiling
from debugtracer.observers.model.running_module import running_module
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.roots import plain_path
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.loss_call import CUTS, ERRORS
from debugtracer.trace.facts.module_modes import ModuleModes
from debugtracer.trace.facts.own_neighbour import RANKED

NAMED = 8  # paths kept as evidence
SILENT = 3  # calls without a graph in training mode before they are told (one may be meant)


class WatchedModule:
    """What is known of one root."""

    def __init__(self, module: nn.Module, name: str) -> None:
        self.name = name
        self.layers: list[tuple[str, nn.Module]] = stateful(module)
        self.dirty = True
        self.quiet_at = -1
        """Count of mode calls when it was last called without a graph."""
        self.silent = 0
        self.streak = 0
        """Calls in training mode since the last backward that evaluate it."""
        self.scored = False
        """A loss without a graph was computed since its last call."""
        self.told = False
        self.given: weakref.ref[Tensor] | None = None
        """The first tensor of its last call without a graph in training mode."""
        self.repeated = 0
        """Such calls in a row with that tensor, with no backward between."""
        self.emitted: tuple[Any, ...] | None = None

    def draws(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether it was given the same tensor as in the call before: what dropout draws is wanted."""
        first = next((t for t in (*args, *kwargs.values()) if isinstance(t, Tensor)), None)
        if self.repeated >= SILENT:
            return True
        again = first is not None and self.given is not None and self.given() is first
        self.given, self.repeated = weakref.ref(first) if first is not None else None, (self.repeated + 1) * again
        return again


class ModuleModesObserver(Observer):
    """Reads flags of Python objects only; the layers of a root are listed once and looked at again after a call of
    train() or eval()."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.patches = Patches()
        self.depth = 0
        self.calls = run.mode_calls
        self.watched: ById[nn.Module, WatchedModule] = ById()
        self.live: ById[nn.Module, bool] = ById()
        """Roots called with a graph since the last backward."""
        self.training_loaders: set[int] = set()
        """Ids of the loaders whose batches went into a call with a graph."""
        self.trained_at = 0
        """Count of mode calls when backward began last."""

    def install(self) -> None:
        """Patch nn.Module.train, which eval() calls."""
        self.patches.wrap(nn.Module, "train", self.wrapped)
        self.calls.made_by(self.patches.lift)

    def remove(self) -> None:
        self.patches.lift(False)
        self.patches.undo()

    def wrapped(self, original: Any) -> Any:
        """Wrap train to note the outermost call; its children follow inside."""

        @functools.wraps(original)
        def train(module: nn.Module, mode: bool = True) -> Any:
            if self.depth or compiling():  # of a module inside another nothing is noted
                return original(module, mode)
            self.depth += 1
            try:
                return original(module, mode)
            finally:
                self.depth = 0
                self.switched(module, bool(mode))

        return train

    def switched(self, module: nn.Module, mode: bool) -> None:
        """Note an outermost call, after which every root has to be checked again."""
        self.calls.note(module, mode, raw_frames(2))
        for watched in list(self.watched.values()):
            watched.dirty = True

    def reset(self) -> None:
        self.calls.clear()
        self.depth = 0

    def missed(self) -> None:
        """Look at every root again: a flag may have been set meanwhile."""
        self.live.clear()
        for watched in list(self.watched.values()):
            watched.dirty = True

    @of_functions({"dropout"})
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Follow the module that calls a functional dropout, whose mode matters too."""
        if (
            getattr(function, "__name__", "") != "dropout"
            or (module := running_module()) is None
            or isinstance(module, _DropoutNd)
        ):
            return
        for root, watched in list(self.watched.items()):
            for name, part in root.named_modules():
                if part is module and not any(known is module for _, known in watched.layers):
                    watched.layers.append((plain_path(name), module))

    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a root call: with a graph it may be trained, without one it is evaluated."""
        root = self.run.state.roots.get(module)
        if root is None or not root.has_parameters:
            return
        if torch.is_grad_enabled():
            self.live[module] = True
            if self.run.inspecting:
                self.training_loaders |= self.loaders(args, kwargs)
            if module not in self.watched:
                self.watched[module] = WatchedModule(
                    module, f"{type(module).__name__}" + (f" {len(self.watched)}" if self.watched else "")
                )
            return
        watched = self.watched.get(module)
        if watched is not None:
            watched.quiet_at = self.calls.count
            asked = module.training and watched.emitted is not None
            if asked and min(watched.silent, watched.streak) < SILENT and not watched.draws(args, kwargs):
                self.noisy(module, watched, self.loaders(args, kwargs))

    def loaders(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> set[int]:
        """The loaders whose batches are among the arguments."""
        hits = [self.run.batches.find(t) for t in (*args, *kwargs.values()) if isinstance(t, Tensor)]
        return {id(hit[0].loader) for hit in hits if hit is not None}

    def scored(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Count what was called last as an evaluation: its loss is computed without a graph."""
        name = function.__name__
        if name in RANKED or name in CUTS or name in ERRORS:  # hard examples are mined so, labels made
            return
        for watched in list(self.watched.values()):
            watched.scored = True

    def noisy(self, module: nn.Module, watched: WatchedModule, loaders: set[int]) -> None:
        """Emit a model that is evaluated in training mode."""
        awake = sum(layer.training for _, layer in watched.layers)
        watched.silent += bool(awake) and not self.asked_for(module)
        evaluated = bool(loaders and not loaders & self.training_loaders) or watched.scored
        watched.streak += bool(awake) and evaluated and watched.streak < SILENT
        watched.scored = False
        sure = watched.streak == SILENT and not watched.told
        watched.told |= sure
        if sure or (awake and watched.silent == SILENT):
            facts = ModuleModes(
                ref=self.run.ref(),
                root=watched.name,
                total=len(watched.layers),
                training=awake,
                silent=SILENT,
                evaluation=sure,
                frame=self.run.here(),
            )
            self.run.emit(facts)

    def asked_for(self, module: nn.Module) -> bool:
        """Whether the program has just put it into training mode, for these calls: no backward came since."""
        last = self.calls.calls[-1] if self.calls.calls else None
        return last is not None and last.mode and last.number > self.trained_at and last.module() is module

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Look at the roots that were called for it."""
        self.trained_at = self.calls.count
        for module in list(self.live):
            watched = self.watched.get(module)
            if watched is not None and (watched.dirty or self.run.inspecting):
                self.compare_modes(module, watched)
            if watched is not None:
                watched.given = None
            if watched is not None and watched.streak < SILENT:
                watched.streak, watched.scored = 0, False
        self.live.clear()

    def compare_modes(self, module: nn.Module, watched: WatchedModule) -> None:
        """Write them down when they are not what they were before."""
        sleeping = [(name, layer) for name, layer in watched.layers if not layer.training]
        watched.dirty = bool(sleeping)  # a flag may be set without train(): read until all are in training mode
        total, training = len(watched.layers), len(watched.layers) - len(sleeping)
        state = (total, training, watched.layers and tuple(name for name, _ in sleeping[:NAMED]))
        if not total or state == watched.emitted:
            return
        watched.emitted = state
        asleep = [layer for _, layer in sleeping]
        owner, frames, number = self.cause(module, asleep)
        by_hand = bool(sleeping) and module.training and number is not None and not self.woken(number, module, asleep)
        self.run.emit(
            ModuleModes(
                ref=self.run.ref("backward"),
                root=watched.name,
                total=total,
                drops=sum(not isinstance(layer, _BatchNorm) for _, layer in watched.layers),
                training=training,
                sleeping=tuple(name for name, _ in sleeping[:NAMED]),
                norms_only=bool(sleeping) and all(isinstance(layer, _BatchNorm) for _, layer in sleeping),
                whole=owner is not None and training == 0 and (by_hand or not module.training),
                by_hand=by_hand,
                evaluated=number is not None and watched.quiet_at >= number,
                asked=None if training or number is None else self.asked_before(module, number),
                frame=frames_of(frames)[0] if frames else None,
                symptom=self.run.here(),
            )
        )

    def cause(self, root: nn.Module, sleeping: list[nn.Module]) -> tuple[nn.Module | None, RawFrames, int | None]:
        """The last eval() of the root or of something around it; for a part, the last eval() that reached a sleeping
        layer."""
        for reference, mode, raw, number in reversed(self.calls.calls):
            module = reference()
            if module is None or mode or not sleeping:
                continue
            parts = {id(part) for part in module.modules()}
            if id(root) in parts:
                return module, raw, number
            if any(id(layer) in parts for layer in sleeping):
                return None, raw, number
        return None, (), None

    def asked_before(self, root: nn.Module, number: int) -> Frame | None:
        """The line of the last train() call that reached a root before that call, where an optimizer trains it."""
        own = {id(parameter) for parameter in root.parameters() if parameter.requires_grad}
        if not any(id(p) in own for optimizer in self.run.optimizers for p in parameters(optimizer)):
            return None
        for call in reversed(self.calls.calls):
            module = call.module() if call.mode and call.number < number else None
            if module is not None and call.raw and any(part is root for part in module.modules()):
                return frames_of(call.raw)[0]
        return None

    def woken(self, number: int, root: nn.Module, sleeping: list[nn.Module]) -> bool:
        """Whether train() was called on the root, on something around it or on a sleeping layer since that call."""
        wanted = {id(root), *map(id, sleeping)}
        for call in reversed(self.calls.calls):
            if call.number <= number:
                return False
            module = call.module() if call.mode else None
            if module is not None and any(id(part) in wanted for part in module.modules()):
                return True
        return False


def stateful(module: nn.Module) -> list[tuple[str, nn.Module]]:
    """The layers whose mode matters: batch norms, dropouts above 0, recurrent and attention layers with dropout."""
    found: list[tuple[str, nn.Module]] = []
    for name, part in module.named_modules():
        noisy = isinstance(part, (_DropoutNd, nn.RNNBase, nn.MultiheadAttention))
        drops = getattr(part, "p" if isinstance(part, _DropoutNd) else "dropout", 0) if noisy else 0
        if isinstance(part, _BatchNorm) or (isinstance(drops, float) and drops > 0):
            found.append((plain_path(name), part))
    return found
