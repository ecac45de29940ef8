"""Counts the unknown words among the ids that a table of weights is given in training, by the vocabulary that the
program holds."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import torch
from torch import Tensor

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.stored_entries import Held
from debugtracer.callsites.word_tables import WordTable, made_at, word_tables
from debugtracer.errors import guarded
from debugtracer.observers.data.unknown_ids import given_at
from debugtracer.observers.loaders.untouched import inner, last_dataset
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.tape.batches import LoaderInfo
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.unknown_words import UnknownWords

LOOKS = 6  # steps of a run in which a table was given texts (ours)
MOST = 8  # calls of a step (ours)
LARGEST = 1 << 18  # ids of a call (ours)
SPARE = 2  # rows that a table may have beyond its vocabulary (ours)
UNKNOWN = re.compile(r"[^a-z]*(?:unk|unknown|oov)[^a-z]*", re.IGNORECASE)
PADDING = re.compile(r"[^a-z]*(?:pad|padding)[^a-z]*", re.IGNORECASE)
ALIKE = 0.5  # share of places at which two calls have one word: one is the other with words left out (ours)


class GivenWords(NamedTuple):
    """Ids that a table was given."""

    ids: Tensor
    path: str
    loader: LoaderInfo | None
    """Where they stand in a batch, and whose batch it is."""
    rows: int
    table: int
    """The id of its weights."""
    raw: RawFrames


class UnknownWordsObserver(Observer):
    """Reads ids on the CPU in inspected steps, a few times in a run; keeps copies of them until the backward."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.lookups: list[GivenWords] = []
        self.looks = 0

    def reset(self) -> None:
        self.lookups, self.looks = [], 0

    def missed(self) -> None:
        """Forget what was looked up in a step that was not seen to its end."""
        self.lookups = []

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note texts that a table is given."""
        if getattr(function, "__name__", "") != "embedding" or len(self.lookups) >= MOST or len(args) < 2:
            return
        ids, weight = args[0], args[1]
        plain = isinstance(ids, Tensor) and ids.device.type == "cpu" and 1 < ids.numel() <= LARGEST
        if plain and ids.dim() == 2 and isinstance(weight, Tensor) and torch.is_grad_enabled():
            hit = self.run.batches.find(ids)
            path, loader = (hit[1], hit[0].loader) if hit is not None else ("", None)
            self.lookups.append(GivenWords(ids.detach().clone(), path, loader, len(weight), id(weight), raw_frames(2)))

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Count by the only vocabulary that has a word for unknown ones and fits a table."""
        lookups, self.lookups = self.lookups, []
        if not lookups:
            return
        self.looks += 1
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called, self.backward_begins)
        dataset = last_dataset(self.run.batches)
        tables = guarded("unknown_words.tables")(word_tables)((dataset,)) or []
        for table in dict.fromkeys(one.table for one in lookups):
            own = [one for one in lookups if one.table == table]
            fits = [t for t in tables if 0 <= own[0].rows - len(t.ids) - min(t.ids.values()) <= SPARE]
            if fits and all(one.ids == fits[0].ids for one in fits):
                self.count(own, fits[0])

    def count(self, lookups: list[GivenWords], table: WordTable) -> None:
        """Emit what one table was given; nothing where one text is another with words left out."""
        word = next((word for word in table.ids if UNKNOWN.fullmatch(word)), None)
        if word is None or any(alike(a.ids, b.ids) for a in lookups for b in lookups if a is not b):
            return
        number, pads = table.ids[word], [table.ids[one] for one in table.ids if PADDING.fullmatch(one)]
        with torch.no_grad():
            given = [one.ids[~torch.isin(one.ids, torch.tensor(pads, device="cpu"))] for one in lookups]
            unknown = [int((ids == number).sum()) for ids in given]
            best = min(range(len(given)), key=lambda at: (unknown[at] / max(len(given[at]), 1), at))
            known = [ids[ids != number] for ids in given]
            shared = [int(torch.isin(ids, known[best]).sum()) for ids in known]
        worst = max(lookups, key=lambda one: int((one.ids == number).sum()))
        made = worst.loader.made(worst.path) if worst.loader is not None else ()
        self.run.emit(
            UnknownWords(
                ref=self.run.ref(), name=table.held.where(), entries=len(table.ids), spelt=word, number=number,
                columns=tuple(one.path for one in lookups), words=tuple(len(ids) for ids in given),
                unknown=tuple(unknown), shared=tuple(shared),
                frame=guarded("unknown_words.made")(self.line_of)(table.held), read_frame=first(lookups[0].raw),
                written=made[0] if made else None,
            )
        )  # fmt: skip

    def line_of(self, held: Held) -> Frame | None:
        """The line that made a vocabulary; of one that only the dataset holds, the one that made what it was given."""
        batch = self.run.batches.last()
        dataset = inner(batch.loader.dataset_held()) if batch is not None else None
        if batch is not None and dataset is not None and held.owner is dataset:
            given = given_at(type(dataset), held.name, batch.loader.frame)
            if given is not None:
                return given
        return made_at(held)


def alike(one: Tensor, other: Tensor) -> bool:
    """Whether two texts have the same word at many places, as they lie or one place further on."""
    if one.shape != other.shape:
        return False
    pairs = ((one, other), (one[:, 1:], other[:, :-1]), (one[:, :-1], other[:, 1:]))
    return any(float((a == b).double().mean()) >= ALIKE for a, b in pairs if a.numel())
