"""Finds columns of a dataset that Hugging Face's Trainer leaves out of its batches and that the program asks for."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from types import FrameType
from typing import Any

from torch import Tensor
from torch.utils.data import IterableDataset

from debugtracer.callsites.frame_locals import local
from debugtracer.callsites.keys_asked import KeysAsked, keys_of_argument, keys_of_rows
from debugtracer.callsites.origins.sample_origin import function_of
from debugtracer.observers.loaders.untouched import untouched
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.state.identity import ById
from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.dropped_column import DroppedColumn

MODULE = "transformers.trainer"
REMOVES = ("get_train_dataloader", "_get_dataloader", "_remove_unused_columns", "_get_collator_with_removed_columns")
BATCH_AT = 2  # (self, model, inputs)


class DroppedColumnsObserver(Observer):
    """Looks at each trainer once, at its first backward; nothing where transformers was not imported."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.known: ById[Any, bool] = ById()
        self.delivered: frozenset[str] = frozenset()
        """Keys of the last batch."""

    def reset(self) -> None:
        self.known.clear()
        self.delivered = frozenset()

    def loader_iterated(self, info: Any, iterator: Any) -> None:
        """Listen again: the trainer may be new."""
        if MODULE in sys.modules and self.fetched in self.run.unwanted:
            self.run.subscribe(self.fetched, self.backward_begins)

    def fetched(self, batch: Batch, data: Any) -> None:
        """Note what a batch holds."""
        self.delivered = frozenset(data) if isinstance(data, Mapping) else frozenset()

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Look at the trainer whose step this is."""
        trainer = trainer_of(sys._getframe(1)) if MODULE in sys.modules else None
        if trainer is not None and trainer not in self.known:
            self.known[trainer] = True
            if self.delivered and drops(trainer):
                self.look(trainer)
        self.run.unsubscribe(self.fetched, self.backward_begins)

    def look(self, trainer: Any) -> None:
        """Emit the columns that are left out and asked for."""
        kept = set(trainer._signature_columns)
        asked = {key: one for key, one in asked_of(trainer).items() if key not in kept}
        missing = {key: (by, at) for key, (by, at) in asked.items() if by == COLLATOR or key not in self.delivered}
        columns = columns_of(trainer.train_dataset) if missing else ()
        for key in columns:
            if key in missing:
                by, frame = missing[key]
                self.run.emit(
                    DroppedColumn(
                        ref=self.run.ref("load"), trainer=type(trainer).__name__, model=type(trainer.model).__name__,
                        dataset=type(trainer.train_dataset).__name__, column=key, asked_by=by, frame=frame,
                    )
                )  # fmt: skip


COLLATOR = "data_collator"


def trainer_of(frame: FrameType | None) -> Any:
    """The trainer in whose loop a frame runs."""
    file = getattr(sys.modules[MODULE], "__file__", None)
    base = getattr(sys.modules[MODULE], "Trainer", None)
    while frame is not None:
        if frame.f_code.co_filename == file:
            owner = local(frame, "self")
            if base is not None and isinstance(owner, base):
                return owner
        frame = frame.f_back
    return None


def drops(trainer: Any) -> bool:
    """Whether a trainer has left out columns, and does so in the way of its base class."""
    base = sys.modules[MODULE].Trainer
    own = any(getattr(type(trainer), name, None) is not getattr(base, name, None) for name in REMOVES)
    asked = getattr(getattr(trainer, "args", None), "remove_unused_columns", False)
    return bool(asked) and not own and bool(getattr(trainer, "_signature_columns", None))


def asked_of(trainer: Any) -> dict[str, tuple[str, Frame]]:
    """The keys that the user's code asks for and does not put there itself: who asks, and the line."""
    steps = {name: keys_of_argument(type(trainer), name, BATCH_AT) for name in ("training_step", "compute_loss")}
    given: dict[str, KeysAsked] = {COLLATOR: keys_of_rows(function_of(trainer.data_collator)), **steps}
    written = {key for name in steps for key in given[name].written}
    return {key: (name, at) for name, one in given.items() for key, at in one.asked.items() if key not in written}


def columns_of(dataset: Any) -> tuple[str, ...]:
    """The columns of a dataset; where it does not tell, those of its first sample, fetched once more and left as it
    was."""
    named = getattr(dataset, "column_names", None)
    if isinstance(named, (list, tuple)):
        return tuple(named)
    if isinstance(dataset, IterableDataset) or not hasattr(dataset, "__getitem__") or not hasattr(dataset, "__dict__"):
        return ()
    try:
        with untouched(dataset):
            sample = dataset[0]
    except (Exception, SystemExit):
        return ()  # the user's code
    return tuple(sample) if isinstance(sample, Mapping) else ()
