"""Sees what is saved and loaded, and with what state the first update after a load begins."""

from __future__ import annotations

import contextlib
import functools
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from debugtracer.errors import guarded
from debugtracer.hooks.hook import OutermostCalls
from debugtracer.hooks.optimizer import subclasses
from debugtracer.observers.checkpoint.checkpoint_parts import (
    CheckpointParts,
    groups_of,
    is_of_weights_only,
    nonfinite,
    parts_of,
    print_of,
    rate_beside,
)
from debugtracer.observers.checkpoint.former_runs import FormerRuns
from debugtracer.observers.checkpoint.loaded_names import LoadedNames
from debugtracer.observers.checkpoint.plain_values import plain_values
from debugtracer.observers.checkpoint.training_state import (
    DataInUse,
    LoadedState,
    SavedState,
    WrittenFile,
    data_of,
    lr_of,
    misplaced,
    parameters_of,
    same_data,
    setup_of,
)
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.output.background import beside_training
from debugtracer.recorder.run_state import parameters
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.state.weak import WeakRef
from debugtracer.trace.facts.checkpoint import SLOTS, CheckpointMark, CheckpointSaved, Resumed
from debugtracer.trace.number import number

MOST = 16  # saved and loaded states remembered (ours)


class CheckpointObserver(Observer):
    """Wraps torch.save, torch.load and the load_state_dict of modules, optimizers, schedulers and scalers. None of them
    is on a hot path."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.calls = OutermostCalls()
        self.saved: list[SavedState] = []
        self.loaded: list[LoadedState] = []
        self.files: list[tuple[list[weakref.ref[Tensor]], CheckpointParts]] = []
        self.count = 0
        """Saves so far."""
        self.schedulers: ById[Any, bool] = ById()
        self.scalers: ById[Any, bool] = ById()
        self.former = FormerRuns()
        self.names = LoadedNames(run)

    def install(self) -> None:
        """Patch; torch.save is known under two names."""
        self.calls.off = False
        for name, make in (("save", self.saving), ("load", self.loading)):
            made = make(getattr(torch, name))
            self.calls.patches.put(torch, name, made)
            self.calls.patches.put(torch.serialization, name, made)
        self.calls.patches.wrap(nn.Module, "load_state_dict", self.restoring("weights"))
        self.calls.patches.wrap(Optimizer, "load_state_dict", self.restoring("optimizer"))
        for kind in subclasses(torch.optim.lr_scheduler.LRScheduler):
            if "load_state_dict" in vars(kind):
                self.calls.patches.wrap(kind, "load_state_dict", self.restoring("scheduler"))
        self.calls.patches.wrap(torch.amp.GradScaler, "load_state_dict", self.restoring("scaler"))

    def remove(self) -> None:
        self.calls.close()

    def reset(self) -> None:
        self.saved.clear()
        self.loaded.clear()
        self.files.clear()
        self.former.reset()
        self.names.reset()

    def saving(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap torch.save to read the object before it is written, as it may change later."""

        @functools.wraps(original)
        def save(obj: Any, *args: Any, **kwargs: Any) -> Any:
            if self.calls.off or self.calls.depth or beside_training():
                return original(obj, *args, **kwargs)
            with self.run.aside():
                guarded("observers.checkpoint.checkpoint: save")(self.on_save)(obj)
            # through our mode, which a second thread has not, pickling takes three times as long
            with self.run.paused() if self.run.stack.listening() else contextlib.nullcontext():
                return original(obj, *args, **kwargs)

        return save

    def loading(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap torch.load to note what was loaded."""

        @functools.wraps(original)
        def load(*args: Any, **kwargs: Any) -> Any:
            loaded = original(*args, **kwargs)
            if not self.calls.off and not beside_training():
                guarded("observers.checkpoint.checkpoint: load")(self.on_load)(loaded)
            return loaded

        return load

    def restoring(self, word: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A load_state_dict; calls it makes itself pass."""

        def make(original: Callable[..., Any]) -> Callable[..., Any]:
            def restored(args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
                owner, *given = *args, *kwargs.values()
                first = given[0] if given else None
                with self.run.aside():
                    guarded("observers.checkpoint.checkpoint: load_state_dict")(self.on_restore)(word, owner, first)
                    if word == "weights":
                        assigned = bool(kwargs.get("assign", args[3] if len(args) > 3 else False))
                        names = guarded("observers.checkpoint.checkpoint: names")(self.names.loaded)
                        names(owner, first, result, assigned)
                self.run.restored(word, owner)

            return self.calls.after(original, restored)

        return make

    def scheduler_built(self, scheduler: Any) -> None:
        """Remember the scheduler, to know whether one drives an optimizer."""
        self.schedulers[scheduler] = True

    def scaler_called(self, word: str, scaler: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Remember a scaler that is used."""
        self.scalers[scaler] = True

    def on_save(self, saved: Any) -> None:
        """Emit the fact of a save that holds weights."""
        with torch.no_grad():
            parts = parts_of(saved)
            if not parts.weights:
                return
            state, trained = self.run.state, [o for o in list(self.run.optimizers) if o.state]
            here = {state.step, state.step - 1, state.iteration, state.iteration - 1} - {0, -1}
            counter = next((n for n in parts.counts if n in here), None)
            names, frame = self.run.names(), self.run.here()
            schedulers = [s for s in list(self.schedulers) if any(getattr(s, "optimizer", None) is o for o in trained)]
            held_by = (("optimizer", trained), ("scheduler", schedulers), ("scaler", list(self.scalers)))
            self.run.emit(
                CheckpointSaved(
                    ref=self.run.ref("update", state.iteration_in_flight), parts=tuple(sorted(parts.words)),
                    live=tuple(word for word, there in held_by if there), counter=counter, nonfinite=nonfinite(parts),
                    tensors=len(parts.weights), frame=frame, weights_only=is_of_weights_only(saved),
                )
            )  # fmt: skip
            if state.step:
                order = [[names.get(id(p), "") for p in parameters(o)] for o in trained]
                schedule = max((int(getattr(s, "last_epoch", 0)) for s in schedulers), default=None)
                setups = {(*setup_of(o), self.run.built_at(o)) for o in trained}
                lr = lr_of(trained[-1]) if trained else None
                mark, plain = print_of(parts.weights), plain_values(self.run.modules())
                data, held = self.data(), [WeakRef(p) for o in trained for p in parameters(o)[:1]]
                saving = SavedState(
                    mark, parts.words, state.step, counter, frame, setups, order, schedule, lr, data, plain, held
                )
                self.saved = [*self.saved[1 - MOST :], saving]
                self.emit_mark(saving)

    def emit_mark(self, saving: SavedState) -> None:
        """Emit a mark of the save, for a later run."""
        if (mark := saving.mark) is not None:
            ref, self.count = self.run.ref("update", self.run.state.iteration_in_flight), self.count + 1
            self.run.emit(
                CheckpointMark(
                    ref=ref,
                    slot=(self.count - 1) % SLOTS,
                    tensors=mark[0],
                    total=number(mark[1]),
                    parts=tuple(sorted(saving.words)),
                    plain=saving.plain,
                )
            )

    def data(self) -> DataInUse | None:
        """Where the data in use come from."""
        return data_of(batch.loader) if (batch := self.run.batches.last()) is not None else None

    def on_load(self, loaded: Any) -> None:
        """Remember which tensors came from which file."""
        parts = parts_of(loaded)
        if parts.weights:
            self.names.read = [*self.names.read[1 - MOST :], parts]
            self.files = [*self.files[1 - MOST :], ([WeakRef(t) for t in parts.weights.values()], parts)]

    def on_restore(self, word: str, owner: Any, given: Any) -> None:
        """Remember which part of a training state was loaded."""
        if word != "weights":
            for load in self.loaded:
                load.restored.add(word)
                load.optimizer_frame = self.run.here() if word == "optimizer" else load.optimizer_frame
            return
        # a mapping of the program's own may read a file each time it is asked
        tensors = {name: t for name, t in dict.items(given) if isinstance(t, Tensor)} if isinstance(given, dict) else {}
        if not tensors:
            return
        ids = {id(t) for t in tensors.values()}
        file = next(
            (parts for references, parts in reversed(self.files) if any(id(r()) in ids for r in references)),
            CheckpointParts(),
        )
        with torch.no_grad():
            mark, written = print_of(tensors), WrittenFile(owner)
        saved = next((s for s in reversed(self.saved) if mark is not None and s.mark == mark), None)
        held = parameters_of(owner)
        self.loaded = [load for load in self.loaded if not all(p in load.parameters for p in held)][1 - MOST :]
        words = file.words or (saved.words if saved else set())
        load = LoadedState(held, self.run.here(), saved, words, file.setups, self.run.step, mark, written=written)
        self.loaded.append(load)

    def step_begins(self, optimizer: Optimizer) -> None:
        """Emit what was restored, at the first update after a load."""
        if self.names.pending:
            self.names.settle()
        if not self.loaded:
            return
        held = parameters(optimizer)
        load = next((one for one in self.loaded if one.goes_on(held)), None)
        if load is not None:
            self.loaded.remove(load)
            self.run.emit(self.resumed(optimizer, held, load))
            if load.saved is None and load.mark is not None:
                self.former.search(load.mark, self.run.step, self.run.iteration)

    def step_closed(self, optimizer: Optimizer) -> None:
        """Check for finished searches; there is nearly always none."""
        if self.former.is_over():
            self.ended()

    def ended(self) -> None:
        """Emit what a former run has recorded, and loads that no update came after."""
        self.names.settle()
        if (found := self.former.take()) is not None:
            self.run.emit(found)

    def resumed(self, optimizer: Optimizer, held: list[Tensor], load: LoadedState) -> Resumed:
        """Build the fact of what the training goes on with."""
        saved, mine = load.saved, [s for s in list(self.schedulers) if getattr(s, "optimizer", None) is optimizer]
        with torch.no_grad(), self.run.paused():
            edited = load.written is not None and load.written.written_since()
            plain = plain_values(self.run.modules())
        names, at = self.run.names(), max(self.run.iteration - 1, 0)
        setup = groups_of(optimizer.param_groups)
        return Resumed(
            ref=self.run.ref("update", at),
            saved=tuple(sorted(load.words)),
            restored=tuple(sorted(load.restored)),
            saved_here=saved is not None,
            saved_step=saved.step if saved else None,
            counter=saved is not None and saved.counter is not None,
            optimizer=type(optimizer).__name__,
            stateful=not all(g.get("momentum") == 0 for g in optimizer.param_groups),
            fresh=not optimizer.state,
            same_data=None if saved is None else same_data(saved.data, self.data()),
            file_fits=setup in load.setups,
            file_rate=rate_beside(setup, load.setups),
            edited=edited,
            in_place=saved is not None and saved.is_of(load.parameters),
            partial=any(p not in load.parameters for p in held),
            same_setup=saved is not None
            and saved.fits(*setup_of(optimizer), self.run.built_at(optimizer), load.step == saved.step),
            schedule_fresh=min(int(getattr(s, "last_epoch", 1)) for s in mine) == 0 if mine else None,
            schedule_before=saved.schedule if saved else None,
            lr=lr_of(optimizer),
            lr_before=saved.lr if saved else None,
            misplaced=misplaced([names.get(id(p), "") for p in held], saved)
            if saved and "optimizer" in load.restored
            else (),
            save_frame=saved.frame if saved else None,
            load_frame=load.frame,
            optimizer_load_frame=load.optimizer_frame,
            plain=plain,
            plain_before=saved.plain if saved else (),
        )
