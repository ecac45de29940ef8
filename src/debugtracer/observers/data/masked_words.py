"""Looks where the id that a mask of a model leaves out stands in its texts: at their ends, or between their words."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import torch
from torch import Tensor

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.word_tables import made_at, word_tables
from debugtracer.errors import guarded
from debugtracer.observers.data.pads_inside import STRAY, stands
from debugtracer.observers.loaders.untouched import last_dataset
from debugtracer.observers.model.read_padding import EQUALS
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.trace.facts.pad_inside import PadInside

LOOKS = 4  # steps of a run in which ids were compared (ours)
MOST, MOST_IDS = 8, 1 << 18  # comparisons of a step, and ids of one (ours)
KINDS = 8  # ids at least: fewer are marks, not words (ours)
ORDINARY = re.compile(r"\w[\w'.-]*")
NOTHING = re.compile("pad|null|none|nil|blank|empty|mask|sep|eos|bos|unk|<", re.IGNORECASE)
PADDING = 3  # of it in a row at an end: two spaces are no padding (ours)


class ComparedIds(NamedTuple):
    """Ids that were compared with a number."""

    ids: Tensor
    pad: int
    raw: RawFrames


class MaskedWordsObserver(Observer):
    """Reads ids on the CPU in inspected steps, a few times in a run; keeps copies of them until the backward."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.compared: list[ComparedIds] = []
        self.given: list[tuple[Tensor, int | None]] = []
        self.looks = 0

    def reset(self) -> None:
        self.compared, self.given, self.looks = [], [], 0

    def missed(self) -> None:
        """Forget what was compared in a step that was not seen to its end."""
        self.compared, self.given = [], []

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note ids that are compared with a number, and ids that a table is given."""
        name = getattr(function, "__name__", "")
        if not args or not is_text(args[0]) or not torch.is_grad_enabled():
            return
        if name in EQUALS and len(args) > 1 and type(args[1]) is int and len(self.compared) < MOST:
            self.compared.append(ComparedIds(args[0].detach().clone(), args[1], raw_frames(2)))
        elif name == "embedding" and len(self.given) < MOST:
            self.given.append((args[0].detach().clone(), args[2] if len(args) > 2 else kwargs.get("padding_idx")))

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit ids of a table that a mask leaves out; those that it knows as padding are looked at elsewhere."""
        compared, given = self.compared, self.given
        self.missed()
        if not compared or not given:
            return
        self.looks += 1
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called, self.backward_begins)
        told: set[RawFrames] = set()
        with torch.no_grad():
            for one in compared:
                known = next((pad for ids, pad in given if torch.equal(ids, one.ids)), one.pad)
                if known in (None, -1) and one.raw not in told:
                    told.add(one.raw)
                    self.look(one)

    def look(self, one: ComparedIds) -> None:
        """Emit where the id stands that the only vocabulary gives to an ordinary word, where it fills the ends of
        texts, too."""
        if len(one.ids.unique()) < KINDS or not fills(one.ids, one.pad):
            return
        alone, ends = stands(one.ids, one.pad)
        if float(alone.any(1).double().mean()) <= STRAY:
            return
        tables = guarded("masked_words.tables")(word_tables)((last_dataset(self.run.batches),)) or []
        words = {word: table.held for table in tables for word, number in table.ids.items() if number == one.pad}
        word, held = next(iter(words.items()), ("", None))
        if len(words) != 1 or held is None or not ORDINARY.fullmatch(word) or NOTHING.search(word):
            return  # a separator, or padding between two parts of a text
        self.run.emit(
            PadInside(
                ref=self.run.ref(), root="", module="", pad=one.pad, rows=alone.shape[0],
                inside=int(alone.any(1).sum()), ends=int(ends.sum()), columns=int(alone.any(0).sum()),
                frame=guarded("masked_words.made")(made_at)(held) or first(one.raw), mask_frame=first(one.raw),
                spelt=word, masked=True,
            )
        )  # fmt: skip


def is_text(value: Any) -> bool:
    """Whether a value is rows of ids in host memory."""
    if not isinstance(value, Tensor) or value.dtype not in (torch.int64, torch.int32) or value.dim() != 2:
        return False
    return value.device.type == "cpu" and min(value.shape) >= PADDING and value.numel() <= MOST_IDS


def fills(ids: Tensor, pad: int) -> bool:
    """Whether an id ends rows by the run, of some more than of others, and begins none so: padding on the right."""
    run = (ids == pad).flip(1).long().cumprod(1).sum(1)
    front = (ids[:, :PADDING] == pad).all(1) & (run < ids.shape[1])
    return int(run.max()) >= PADDING and len(run.unique()) > 1 and not bool(front.any())
