"""Sees what is saved and loaded, and with what state the first update after a load begins."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.errors import guarded
from debugtracer.probes.checkpoint_parts import Parts, groups_of, nonfinite, parts_of, print_of
from debugtracer.probes.former_run import Search
from debugtracer.probes.optimizer import parameters, subclasses
from debugtracer.probes.probe import Patches
from debugtracer.probes.taker import Taker
from debugtracer.probes.training_state import Loaded, Saved, Written, lr_of, misplaced, setup_of
from debugtracer.recorder.identity import ById
from debugtracer.recorder.weak import Weak
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.checkpoint import CheckpointMark, CheckpointSaved, Resumed
from debugtracer.trace.number import number

SLOTS = 64  # see CheckpointMark
MOST = 16  # saved and loaded states remembered (ours)


class CheckpointTaker(Taker):
    """Wraps torch.save, torch.load and the load_state_dict of modules, optimizers, schedulers and scalers. None of them is on a hot path."""

    def __init__(self) -> None:
        super().__init__()
        self.patches = Patches()
        self.saved: list[Saved] = []
        self.loaded: list[Loaded] = []
        self.files: list[tuple[list[weakref.ref[Tensor]], Parts]] = []
        self.count = 0
        """Saves so far."""
        self.schedulers: ById[Any, bool] = ById()
        self.scalers: ById[Any, bool] = ById()
        self.searches: list[Search] = []
        self.depth = 0
        self.off = False

    def install(self) -> None:
        """Patch; torch.save is known under two names."""
        self.off = False
        for name, make in (("save", self.saving), ("load", self.loading)):
            made = make(getattr(torch, name))
            self.patches.put(torch, name, made)
            self.patches.put(torch.serialization, name, made)
        self.patches.wrap(nn.Module, "load_state_dict", self.restoring("weights"))
        self.patches.wrap(Optimizer, "load_state_dict", self.restoring("optimizer"))
        for kind in subclasses(torch.optim.lr_scheduler.LRScheduler):
            if "load_state_dict" in vars(kind):
                self.patches.wrap(kind, "load_state_dict", self.restoring("scheduler"))
        self.patches.wrap(torch.amp.GradScaler, "load_state_dict", self.restoring("scaler"))

    def remove(self) -> None:
        """Everything as it was."""
        self.off = True
        self.patches.undo()

    def forget(self) -> None:
        """A forked child starts from nothing."""
        self.saved.clear()
        self.loaded.clear()
        self.files.clear()
        self.searches.clear()

    def saving(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """torch.save; looked at before it runs, as the object may change later."""

        @functools.wraps(original)
        def save(obj: Any, *args: Any, **kwargs: Any) -> Any:
            if not self.off and not self.depth:
                guarded("probes.checkpoint: save")(self.on_save)(obj)
            return original(obj, *args, **kwargs)

        return save

    def loading(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """torch.load."""

        @functools.wraps(original)
        def load(*args: Any, **kwargs: Any) -> Any:
            loaded = original(*args, **kwargs)
            if not self.off:
                guarded("probes.checkpoint: load")(self.on_load)(loaded)
            return loaded

        return load

    def restoring(self, word: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A load_state_dict; calls it makes itself pass."""

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(original)
            def load_state_dict(owner: Any, /, *args: Any, **kwargs: Any) -> Any:
                self.depth += 1
                try:
                    result = original(owner, *args, **kwargs)
                finally:
                    self.depth -= 1
                if not self.off and not self.depth:
                    given = args[0] if args else next(iter(kwargs.values()), None)
                    guarded("probes.checkpoint: load_state_dict")(self.on_restore)(word, owner, given)
                    self.desk.moment("restored", word, owner)
                return result

            return load_state_dict

        return make

    def scheduler_built(self, scheduler: Any) -> None:
        """To know whether one drives an optimizer."""
        self.schedulers[scheduler] = True

    def scaler_called(self, word: str, scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """A scaler that is used."""
        self.scalers[scaler] = True

    def on_save(self, saved: Any) -> None:
        """The fact of a save that holds weights."""
        with torch.no_grad(), self.desk.paused():
            parts = parts_of(saved)
            if not parts.weights:
                return
            recorder, trained = self.desk.recorder, [o for o in list(self.desk.built) if o.state]
            here = {recorder.step, recorder.step - 1, recorder.iteration, recorder.iteration - 1} - {0, -1}
            counter = next((n for n in parts.counts if n in here), None)
            names, frame = self.desk.names(), self.desk.here()
            schedulers = [s for s in list(self.schedulers) if any(getattr(s, "optimizer", None) is o for o in trained)]
            live = [w for w, there in (("optimizer", trained), ("scheduler", schedulers), ("scaler", list(self.scalers))) if there]
            self.desk.tell(
                CheckpointSaved(
                    ref=self.desk.ref("update", recorder.iteration_in_flight),
                    parts=tuple(sorted(parts.words)),
                    live=tuple(live),
                    counter=counter,
                    nonfinite=nonfinite(parts),
                    tensors=len(parts.weights),
                    frame=frame,
                )
            )
            if recorder.step:
                order = [[names.get(id(p), "") for p in parameters(o)] for o in trained]
                schedule = max((int(getattr(s, "last_epoch", 0)) for s in schedulers), default=None)
                setups = {(*setup_of(o), self.desk.built_at(o)) for o in trained}
                lr = lr_of(trained[-1]) if trained else None
                mark = print_of(parts.weights)
                saving = Saved(mark, parts.words, recorder.step, counter, frame, setups, order, schedule, lr, self.data())
                self.saved = [*self.saved[1 - MOST :], saving]
                self.tell_mark(mark, parts.words)

    def tell_mark(self, mark: tuple[int, float] | None, words: set[str]) -> None:
        """For a later run."""
        if mark is not None:
            ref, self.count = self.desk.ref("update", self.desk.recorder.iteration_in_flight), self.count + 1
            self.desk.tell(CheckpointMark(ref=ref, slot=(self.count - 1) % SLOTS, tensors=mark[0], total=number(mark[1]), parts=tuple(sorted(words))))

    def data(self) -> tuple[Frame | None, int | None] | None:
        """Where the data in use come from."""
        batch = self.desk.batches.last()
        return None if batch is None else (batch.loader.frame, batch.loader.dataset_len())

    def on_load(self, loaded: Any) -> None:
        """Remember which tensors came from which file."""
        parts = parts_of(loaded)
        if parts.weights:
            self.files = [*self.files[1 - MOST :], ([Weak(t) for t in parts.weights.values()], parts)]

    def on_restore(self, word: str, owner: Any, given: Any) -> None:
        """Something of a training state was loaded."""
        if word != "weights":
            for load in self.loaded:
                load.restored.add(word)
                load.optimizer_frame = self.desk.here() if word == "optimizer" else load.optimizer_frame
            return
        tensors = {name: t for name, t in given.items() if isinstance(t, Tensor)} if hasattr(given, "items") else {}
        if not tensors:
            return
        ids = {id(t) for t in tensors.values()}
        file = next((parts for references, parts in reversed(self.files) if any(id(r()) in ids for r in references)), Parts())
        with torch.no_grad(), self.desk.paused():
            mark, written = print_of(tensors), Written(owner)
        saved = next((s for s in reversed(self.saved) if mark is not None and s.mark == mark), None)
        held = {id(p) for p in owner.parameters()}
        self.loaded = [load for load in self.loaded if not held <= load.parameters][1 - MOST :]
        words = file.words or (saved.words if saved else set())
        self.loaded.append(Loaded(held, self.desk.here(), saved, words, file.setups, self.desk.step, mark, written=written))

    def step_begins(self, optimizer: Optimizer) -> None:
        """The first update after a load."""
        if not self.loaded:
            return
        held = parameters(optimizer)
        load = next((one for one in self.loaded if any(id(p) in one.parameters for p in held)), None)
        if load is not None:
            self.loaded.remove(load)
            self.desk.tell(self.resumed(optimizer, held, load))
            if load.saved is None and load.mark is not None and not self.searches:
                self.searches.append(Search(load.mark, self.desk.step, self.desk.recorder.iteration))

    def step_closed(self, optimizer: Optimizer) -> None:
        """Nearly always nothing is sought."""
        if self.searches and not self.searches[0].thread.is_alive():
            self.ended()

    def ended(self) -> None:
        """What a former run has recorded."""
        found = [search.result() for search in self.searches]
        self.searches.clear()
        for fact in found:
            if fact is not None:
                self.desk.tell(fact)

    def same_setup(self, optimizer: Optimizer, saved: Saved, load: Loaded) -> bool:
        """Built by the line that built the one of the save, or alike and loaded where it was saved: a fine-tuning differs in one of them."""
        kind, lr = setup_of(optimizer)
        line = self.desk.built_at(optimizer)
        return any(k == kind and rate == lr and (line == at or load.step == saved.step) for k, rate, at in saved.setups)

    def resumed(self, optimizer: Optimizer, held: list[Tensor], load: Loaded) -> Resumed:
        """With what the training goes on."""
        saved, mine = load.saved, [s for s in list(self.schedulers) if getattr(s, "optimizer", None) is optimizer]
        with torch.no_grad(), self.desk.paused():
            edited = load.written is not None and load.written.again()
        names, at = self.desk.names(), max(self.desk.recorder.iteration - 1, 0)
        return Resumed(
            ref=self.desk.ref("update", at),
            saved=tuple(sorted(load.words)),
            restored=tuple(sorted(load.restored)),
            saved_here=saved is not None,
            saved_step=saved.step if saved else None,
            counter=saved is not None and saved.counter is not None,
            optimizer=type(optimizer).__name__,
            stateful=not all(g.get("momentum") == 0 for g in optimizer.param_groups),
            fresh=not optimizer.state,
            same_data=None if saved is None or saved.data is None else saved.data == self.data(),
            file_fits=groups_of(optimizer.param_groups) in load.setups,
            edited=edited,
            same_setup=saved is not None and self.same_setup(optimizer, saved, load),
            schedule_fresh=min(int(getattr(s, "last_epoch", 1)) for s in mine) == 0 if mine else None,
            schedule_before=saved.schedule if saved else None,
            lr=lr_of(optimizer),
            lr_before=saved.lr if saved else None,
            misplaced=misplaced([names.get(id(p), "") for p in held], saved) if saved and "optimizer" in load.restored else (),
            save_frame=saved.frame if saved else None,
            load_frame=load.frame,
            optimizer_load_frame=load.optimizer_frame,
        )
