"""A program that goes on from a saved state: its objects get their values when it has built them, and its loaders their
place, before the first batch that was not trained on."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_pre_hook
from torch.utils.data import get_worker_info

from debugtracer.errors import DebugTracerError, ResumeRefused
from debugtracer.recorder.listeners import Notes, PassListener
from debugtracer.recorder.resume.loaded_parts import (
    fits,
    living_scalers,
    load_model,
    load_optimizer,
    load_scheduler,
    pairs,
    same_groups,
)
from debugtracer.recorder.resume.loader_passes import LoaderPasses, key_of, own_generators, places_told
from debugtracer.recorder.run_state import RunState, parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.rng import restore_plain
from debugtracer.trace.store.saved_state import RESUMED, UNREACHED

STREAM = 1  # torch.utils.data.dataloader._DatasetKind.Iterable
FRAMEWORKS = {
    "lightning.pytorch.trainer": "Lightning",
    "pytorch_lightning.trainer": "Lightning",
    "transformers.trainer": "Trainer",
}


@dataclass(frozen=True)
class ResumeOptions:
    """What is to be different from the saved state."""

    source: str
    """The run that it comes from, as it is told."""
    lr_scale: float = 1.0
    fresh_optimizer: bool = False


class Resumption(PassListener):
    """One per process that resumes; done, it costs nothing. A pass that is over already is given one batch, so that
    what the loop does after a pass finds what it expects, and everything is put back again after it."""

    def __init__(
        self,
        state: RunState,
        passes: LoaderPasses,
        read: Callable[[], dict[str, Any]],
        options: ResumeOptions,
        notes: Notes,
        disabled: Callable[[], contextlib.AbstractContextManager[Any]],
        weights_replaced: Callable[[], None],
    ) -> None:
        """Take what gives the saved state, a context in which no hook of ours listens, and what tells the observers
        that weights were put back without them."""
        self.state, self.passes, self.read, self.options = state, passes, read, options
        self.notes, self.disabled, self.weights_replaced = notes, disabled, weights_replaced
        self.saved: dict[str, Any] | None = None
        self.waiting = True
        """The place is not reached yet."""
        self.given: ById[Any, int] = ById()
        """Iterators of passes that are over already, and the batches they have given."""
        self.going: ById[Any, int] = ById()
        """Iterators of the passes that go on, and the fetches before the place that the state was saved at."""
        self.short = self.ahead = False
        """There were such passes."""
        self.loaded: list[tuple[nn.Module, dict[str, Any]]] = []
        self.parts: set[int] = set()
        """Ids of the modules that are loaded, with all below them."""
        self.listening: list[Any] = []
        self.done = False

    def install(self) -> None:
        """Listen for the first call of each model, and for the first update."""
        if not self.done:
            self.listening = [
                torch.nn.modules.module.register_module_forward_pre_hook(self.on_call),
                register_optimizer_step_pre_hook(self.on_step),
            ]

    def remove(self) -> None:
        """Stop listening to calls and updates."""
        for handle in self.listening:
            handle.remove()
        self.listening = []

    def pause(self) -> None:
        """Do nothing: a replay calls what is loaded already."""

    def resume(self) -> None:
        """Do nothing, as the counterpart of pause()."""

    def state_dict(self) -> dict[str, Any]:
        """The saved state, read once. Raises ResumeRefused where it cannot be read."""
        if self.saved is None:
            try:
                self.saved = self.read()
            except DebugTracerError as error:
                raise ResumeRefused(str(error)) from None
        return self.saved

    # models
    def on_call(self, module: nn.Module, args: Any) -> None:
        """Load a model at its first call. Raises ResumeRefused."""
        if id(module) in self.parts or get_worker_info() is not None or not any(True for _ in module.parameters()):
            return
        with self.refusing():
            rest = [e for e in self.state_dict()["models"] if not any(e is known for _, known in self.loaded)]
            match = next((entry for entry in rest if fits(module, entry)), None)
            if match is None:
                return
            with self.disabled():
                load_model(module, match)
                self.loaded.append((module, match))
                self.parts |= {id(part) for part in module.modules()}
                self.load_rest()
            self.weights_replaced()
            if not self.state_dict()["loaders"] and self.waiting and torch.is_grad_enabled():
                self.arrive()  # a loop without a loader: there is no place to look for

    def on_step(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        """End the listening at the first update from the saved place on. Raises ResumeRefused where no model is the
        saved one."""
        if self.done:
            return
        with self.refusing():
            saved = self.state_dict()
            if not self.loaded and saved["models"]:
                raise ResumeRefused(f"no model of the program has the names and shapes of {self.options.source}")
            if self.waiting and (self.short or self.ahead):
                return  # in a pass that is over
            self.waiting, self.done = False, True
            self.remove()
            self.tell(saved)
            self.saved = None

    @contextlib.contextmanager
    def refusing(self) -> Iterator[None]:
        """End the program where something cannot be put back."""
        try:
            yield
        except Exception as error:
            words = " ".join(str(error).split())
            raise ResumeRefused(f"the state could not be put back ({type(error).__name__}: {words})") from error

    def load_rest(self) -> None:
        """Put optimizers, schedulers and scalers back, as far as they are built."""
        saved, options = self.state_dict(), self.options
        for optimizer, entry in pairs(self.state.optimizers, saved["optimizers"]):
            if not same_groups(optimizer, entry):
                raise ResumeRefused(
                    f"the program's {type(optimizer).__name__} holds other parameter groups than the one that was saved"
                )
            load_optimizer(optimizer, entry, options.lr_scale, options.fresh_optimizer)
        for scheduler, entry in pairs(self.state.schedulers, saved["schedulers"]):
            load_scheduler(scheduler, entry, options.lr_scale)
        for scaler, entry in pairs(living_scalers(), saved["scalers"]):
            scaler.load_state_dict(entry["state"])

    # loaders
    def place_of(self, loader: Any) -> dict[str, Any] | None:
        """What was saved of a loader like this one."""
        key = key_of(loader)
        return next((place for place in self.state_dict()["loaders"] if place["loader"] == key), None)

    def goes_on(self, loader: Any, place: dict[str, Any]) -> bool:
        """Whether the pass that has just begun is the one that was in flight."""
        begun: int = self.passes.known[key_of(loader)].passes
        return place["batches"] is not None and begun == place["passes"]

    def begins(self, loader: Any) -> None:
        with self.refusing():
            place = self.place_of(loader) if self.waiting else None
            if place is not None and self.goes_on(loader, place):
                restore_plain(place["generators"])
                for generator, kept in zip(own_generators(loader), place["own"], strict=False):
                    generator.set_state(kept)
                self.passes.begins_again(loader)

    def begun(self, loader: Any, iterator: Any) -> None:
        with self.refusing():
            place = self.place_of(loader) if self.waiting else None
            if place is None or place["batches"] is None:
                return  # what only evaluates sees all of its data: its results are those of the saved weights
            if self.goes_on(loader, place):
                self.going[iterator], self.ahead = self.passes.known[key_of(loader)].ahead(), True
                pass_over(iterator, place["batches"])
            elif self.passes.known[key_of(loader)].passes < place["passes"]:
                self.given[iterator], self.short = 0, True

    def before_fetch(self, iterator: Any) -> bool:
        with self.refusing():
            given = self.given.get(iterator)
            if given is not None:
                self.given[iterator] = given + 1
                if given:
                    self.load_again()
                return given > 0
            before = self.going.get(iterator)
            if before is not None and before > 0:
                self.going[iterator] = before - 1
            elif before is not None:
                self.arrive()
        return False

    def load_again(self) -> None:
        """Restore what the one batch of a pass has changed: what comes after a pass sees the saved weights."""
        with self.disabled():
            for module, entry in self.loaded:
                load_model(module, entry)
            self.load_rest()
        self.weights_replaced()

    def arrive(self) -> None:
        """Put everything back once more, the generators last: from here on the program trains."""
        saved = self.state_dict()
        self.load_again()
        for parameter in (p for optimizer in self.state.optimizers for p in parameters(optimizer)):
            parameter.grad = None  # of a pass that was over
        restore_plain(saved["generators"])
        self.waiting = False

    def program_ended(self) -> None:
        """Say so where the program has ended before the place that the state was saved at: it has trained nothing."""
        if self.done or not self.loaded:
            return
        self.done, saved = True, self.state_dict()
        begun = max((one.passes for one in self.passes.known.values()), default=0)
        text = (
            f"resumed from {self.options.source}, step {saved['step']} - the weights were put back, and the program "
            f"ended after {begun} pass{'es' * (begun != 1)} over its data, before an update from that step on"
            f" ({places_told(saved['loaders']) or 'it had no loader'}) - nothing was trained; a pass that was over is "
            "given one batch, whose update is undone: start it with more passes than the run had made."
        )
        self.notes.note(UNREACHED, text)
        print(f"debug-tracer: {text}", file=sys.stderr, flush=True)

    def tell(self, saved: dict[str, Any]) -> None:
        """Say what was put back, and what could not be."""
        flight = [p for p in saved["loaders"] if p["batches"] is not None]
        where = places_told(saved["loaders"]) if self.ahead else ""
        back, missing = [f"{len(self.loaded)} model(s)"], []
        if len(self.loaded) < len(saved["models"]):
            missing = [f"{len(saved['models']) - len(self.loaded)} model(s) that were not called"]
        live = {"optimizers": self.state.optimizers, "schedulers": self.state.schedulers, "scalers": living_scalers()}
        for kind, objects in live.items():
            found, wanted = len(pairs(objects, saved[kind])), len(saved[kind])
            back += [f"{found} {kind.removesuffix('s')}(s)"] if found else []
            missing += [f"{wanted - found} {kind.removesuffix('s')}(s) that the program has not built"] * (
                found < wanted
            )
        if "dealt_by" in saved:
            missing.append(f"the place in the data and random generators: {saved['dealt_by']} ranks have saved them")
        elif not flight:
            missing.append("the place in the data: the loop used no DataLoader")
        elif not self.ahead:
            missing.append(f"the place in the data: no loader is that over {flight[0]['loader']}")
        if self.short:
            missing += ["what was printed above of passes that were over: each of them was given one batch"]
        frames = [word for name, word in FRAMEWORKS.items() if name in sys.modules]
        missing += [f"counters of {word}, which has checkpoints of its own for them" for word in frames]
        missing += ["counters of the script's own, which begin at 0"]
        changed = [f"learning rates times {self.options.lr_scale:g}"] if self.options.lr_scale != 1 else []
        changed += ["no moments"] if self.options.fresh_optimizer else []
        if "dealt_by" not in saved:
            back.append("random generators")
        text = (
            f"resumed from {self.options.source}, step {saved['step']} - put back: {', '.join(back)}"
            f"{', ' + where if where else ''}{' (' + ', '.join(changed) + ')' if changed else ''} - not put back: "
            f"{'; '.join(missing)}."
        )
        self.notes.note(RESUMED, text)
        print(f"debug-tracer: {text}", file=sys.stderr, flush=True)


def pass_over(iterator: Any, batches: int) -> None:
    """Leave out what was trained on already: by its indices where nothing else could move on with it, else by
    fetching it."""
    if getattr(iterator, "_num_workers", 0) == 0 and getattr(iterator, "_dataset_kind", 0) != STREAM:
        for _ in range(batches):
            iterator._next_index()
        iterator._num_yielded = batches
        return
    fetch = type(iterator).__next__
    fetch = getattr(fetch, "__wrapped__", fetch)
    for _ in range(batches):
        fetch(iterator)
