"""Looks whether the ids of a batch are those of the vocabulary that its dataset holds, or the one that stands for what
is in none."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from debugtracer.callsites.filled_dicts import PLAIN, numbers_of
from debugtracer.callsites.origins.built_with import built_with
from debugtracer.callsites.origins.sample_origin import function_at, holder
from debugtracer.callsites.origins.value_origin import origin, program_of
from debugtracer.errors import guarded
from debugtracer.observers.loaders.untouched import inner
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.tape.batches import Batch
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.unknown_ids import UnknownIds

LOOKS = 3  # at a run (ours)
FEWEST = 8  # rows of a batch, and entries of a vocabulary (ours)


class UnknownIdsObserver(Observer):
    """Reads columns of a batch on the CPU in inspected steps, a few times in a run."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.looks = 0

    def reset(self) -> None:
        self.looks = 0

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Look at the batch of a call in training."""
        batch = self.run.batches.last()
        if self.looks >= LOOKS or batch is None or not (module.training and torch.is_grad_enabled()):
            return
        columns = list(columns_of(batch))
        if not columns:
            return
        self.looks += 1
        dataset = inner(batch.loader.dataset_held())
        known = dict(vocabularies(dataset))
        for name, entries in known.items():
            if list(known.values()).count(entries) > 1 or any(other > entries for other in known.values()):
                continue  # its id behind the last is one of another vocabulary
            mine = [(path, column) for path, column in columns if int(column.max()) == entries]
            if mine and all(int(column.min()) >= 0 for _, column in mine):
                self.emit(batch, type(dataset), name, entries, mine)

    def emit(self, batch: Batch, kind: type, name: str, entries: int, columns: list[tuple[str, Tensor]]) -> None:
        """Emit the columns with the lines of the vocabulary and of the ids."""
        made = batch.loader.made(columns[0][0])
        self.run.emit(
            UnknownIds(
                ref=self.run.ref(),
                name=f"{kind.__name__}.{name}",
                entries=entries,
                columns=tuple(path for path, _ in columns),
                unknown=tuple(int((column == entries).sum()) for _, column in columns),
                rows=len(columns[0][1]),
                frame=guarded("unknown_ids: given")(given_at)(kind, name, batch.loader.frame),
                made=made[0] if made else None,
            )
        )


def columns_of(batch: Batch) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors of a batch with one whole number for each row."""
    for path, leaf in batch.tensors():
        whole = leaf.dtype in (torch.int64, torch.int32) and leaf.device.type == "cpu"
        if whole and leaf.dim() == 1 and len(leaf) == batch.rows and len(leaf) >= FEWEST:
            yield path, leaf.detach()


def vocabularies(dataset: Any) -> Iterator[tuple[str, int]]:
    """Yield the dicts that a dataset holds whose entries are numbered from 0 on, and how many they have."""
    for name, value in list(vars(dataset).items()) if hasattr(dataset, "__dict__") else ():
        numbers = numbers_of(value) if type(value) in PLAIN and len(value) >= FEWEST else None
        if numbers is not None and (min(numbers), max(numbers)) == (0, len(numbers) - 1):
            yield name, len(numbers)


def given_at(kind: type, name: str, built: Frame | None) -> Frame | None:
    """The line that made what the constructor of a dataset keeps under this name; else the one that keeps it."""
    code = getattr(getattr(kind, "__getitem__", None), "__code__", None)
    program = program_of(code.co_filename) if code is not None else None
    method = function_at(program, code) if program is not None and code is not None else None
    if code is None or method is None:
        return None
    links = origin(f"self.{name}", (Frame(code.co_filename, method.body[0].lineno, method.name),))
    lines = [link.frame for link in built_with(links, built, holder)]
    return (lines[1] if len(lines) > 1 else lines[0]) if lines else None
