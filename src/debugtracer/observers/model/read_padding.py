"""Compares the one position of each row that a model reads with the ids that it was given: does padding stand there?"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.line import first
from debugtracer.observers.graph.graph_walk import MOST_PART_NODES, numbers
from debugtracer.observers.loss.padded_targets import is_ids
from debugtracer.observers.loss.untrained_ends import is_mask
from debugtracer.observers.model.attended_padding import DOT, FILL, HEADS, kept_of
from debugtracer.observers.model.read_positions import FIRST, Read, read_of, single
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.recorder.tape.entry import tensors
from debugtracer.trace.facts.read_padding import ReadPadding
from debugtracer.trace.number import number

READS = frozenset({"__getitem__", "select", "gather"})
EQUALS = frozenset({"eq", "ne", "__eq__", "__ne__", "not_equal"})
ABOVE = frozenset({"gt", "__gt__", "greater"})
RECURRENT = frozenset({"lstm", "gru", "rnn_tanh", "rnn_relu", "lstm_cell", "gru_cell", "rnn_tanh_cell"})
ELEMENTS = 2**20  # ids that are looked at (ours)
CALLS, MOST = 4, 64  # tensors of ids or masks, and reads, of a step (ours)
LOOKS = 8  # steps in which both were seen (ours)
FEWEST = 4  # rows (ours)
MOST_ROWS = 0.9  # share of rows that hold the padding at one end alone (ours)
SIDES = ("right", "left")


class GivenIds(NamedTuple):
    """Ids that a model was given, and what came with them."""

    ids: Tensor
    beside: list[Tensor]
    """Other tensors of the same shape, and masks of an attention."""
    tables: frozenset[int]
    """The padding_idx of its embeddings."""


class Padded(NamedTuple):
    """What stands at the positions that were read."""

    pad: int
    side: str
    rows: int
    inside: int
    gap: float
    length: float
    known_by: str


class ReadPaddingObserver(Observer):
    """Keeps ids of an inspected step until its backward, nothing with a graph. On a device each tensor of ids is copied
    to the host once in such a step, in LOOKS of them at the most."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.given: list[GivenIds] = []
        self.reads: list[Read] = []
        self.compared: set[int] = set()
        """Numbers that ids were compared with."""
        self.masks: list[Tensor] = []
        """Which positions an attention lets in."""
        self.recurrent = False
        self.looks = 0

    def reset(self) -> None:
        self.forget()

    def missed(self) -> None:
        """Forget what was read in a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Drop the step in flight."""
        self.given, self.reads, self.masks, self.compared, self.recurrent = [], [], [], set(), False

    @of_functions(READS, EQUALS, ABOVE, RECURRENT, lambda name: name.rstrip("_") in (HEADS, DOT, FILL))
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note one position that is taken out of each row, and what ids are compared with."""
        name = getattr(function, "__name__", "")
        if name in READS:
            if torch.is_grad_enabled() and len(self.reads) < MOST:
                read = read_of(name, args, kwargs, output)
                if read is not None:
                    self.reads.append(read)
        elif name in EQUALS or name in ABOVE:
            if len(args) > 1 and type(args[1]) is int and is_ids(args[0]) and (name in EQUALS or not args[1]):
                self.compared.add(args[1])
        elif name in RECURRENT:
            self.recurrent = True
        elif name.rstrip("_") in (HEADS, DOT, FILL) and torch.is_grad_enabled() and len(self.masks) < CALLS:
            with torch.no_grad():
                kept = kept_of(name.rstrip("_"), args, kwargs)
            self.masks += [kept] if kept is not None else []

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note the ids of a model."""
        if not torch.is_grad_enabled() or len(self.given) >= CALLS:
            return
        flat = [t.detach() for t in tensors((args, kwargs)) if is_dense(t) and t.dim() == 2 and t.numel() <= ELEMENTS]
        for ids in [t for t in flat if is_ids(t) and min(t.shape) > 1]:
            beside = [t for t in flat if t is not ids and t.shape == ids.shape]
            pads = (m.padding_idx for m in module.modules() if isinstance(m, (nn.Embedding, nn.EmbeddingBag)))
            self.given.append(GivenIds(ids, beside, frozenset(pad for pad in pads if pad is not None)))

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit what a loss is made of that was read at padding."""
        given, reads, compared, recurrent = self.given, single(self.reads), self.compared, self.recurrent
        masks = self.masks
        self.forget()
        if not given or not reads:
            return
        given = [one._replace(beside=[*one.beside, *(m for m in masks if m.shape == one.ids.shape)]) for one in given]
        self.looks += 1
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called, self.left, self.backward_begins)
        reached: set[int] | None = None
        with torch.no_grad():
            for read in reads:
                found = [padded(one, read, compared) for one in given if fits(one.ids, read)]
                kept = [one for one in found if one is not None]
                if not kept or len(kept) < len(found):
                    continue
                reached = numbers(losses, MOST_PART_NODES) if reached is None else reached
                if read.node in reached:
                    ids = next(one.ids for one in given if fits(one.ids, read))
                    self.tell(read, kept[0], ids, recurrent)

    def tell(self, read: Read, found: Padded, ids: Tensor, recurrent: bool) -> None:
        """Emit one line, with the line that laid out the ids."""
        known = self.run.batches.find(ids)
        made = known[0].loader.made(known[1]) if known is not None else ()
        self.run.emit(
            ReadPadding(
                ref=self.run.ref(), function=read.function, pad=found.pad, side=found.side,
                place=read.place if isinstance(read.place, int) else None, positions=read.shape[read.dim],
                rows=found.rows, inside=found.inside, gap=number(found.gap), length=number(found.length),
                known_by=found.known_by, recurrent=recurrent, frame=first(read.raw), made=made[-1] if made else None,
            )
        )  # fmt: skip


def fits(ids: Tensor, read: Read) -> bool:
    """Whether a tensor has a value for each id."""
    return tuple(ids.shape) in (read.shape, read.shape[::-1])


def padded(one: GivenIds, read: Read, compared: Iterable[int]) -> Padded | None:
    """What stands where a tensor is read; None where no row is read at padding."""
    ids = one.ids.cpu()
    turned = tuple(ids.shape) != read.shape
    if turned != (read.dim == FIRST):
        ids = ids.t()
    place = torch.full((ids.shape[0],), read.place, device="cpu") if isinstance(read.place, int) else read.place
    masked = [pad for mask in one.beside if (pad := id_outside(one.ids, mask)) is not None]
    known = [(pad, f"Embedding(padding_idx={pad})", 0) for pad in sorted(one.tables)]
    known += [(pad, "a mask", 0) for pad in masked] + [(pad, "a comparison", 1) for pad in sorted(compared)]
    for pad, known_by, own in known:
        is_pad = ids == pad
        if read.dim == FIRST and any(at_end(is_pad.t(), side) is not None for side in SIDES):
            continue  # rows sorted by length: the first dimension may be theirs
        for side in SIDES:
            run = at_end(is_pad, side)
            if run is None:
                continue
            from_end = ids.shape[1] - 1 - place if side == "right" else place
            kept = run < ids.shape[1]
            inside = kept & (from_end < run - own)  # the first of them may end the text
            if bool(inside.any()):
                gap = (run - from_end)[inside].double().mean()
                length = (ids.shape[1] - run)[inside].double().mean()
                return Padded(pad, side, int(kept.sum()), int(inside.sum()), float(gap), float(length), known_by)
    return None


def at_end(is_pad: Tensor, side: str) -> Tensor | None:
    """How much padding stands at one end of each row; None unless it fills that end alone, and not as much of each."""
    run = (is_pad.flip(1) if side == "right" else is_pad).long().cumprod(1).sum(1)
    kept = run < is_pad.shape[1]
    clean = is_pad.sum(1) == run
    if int(kept.sum()) < FEWEST or float(clean[kept].double().mean()) < MOST_ROWS:
        return None
    return run if len(run[kept].unique()) > 1 else None


def id_outside(ids: Tensor, mask: Tensor) -> int | None:
    """The one id that a mask of zeros and ones sets apart from all others, whichever of the two means padding."""
    if not is_mask(mask):
        return None
    for apart in (mask == 0, mask != 0):
        inside = ids[apart.to(ids.device)]
        if bool((inside == inside[0]).all()) and not bool((ids[~apart.to(ids.device)] == inside[0]).any()):
            return int(inside[0])
    return None
