"""Looks at the tokens of a model that predicts the next one: does the text go on along a row, or from row to row?"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from debugtracer.callsites.frames import RawFrames, raw_frames
from debugtracer.callsites.line import first
from debugtracer.observers.data.repeated_pairs import joined, repeated
from debugtracer.observers.data.unseen_tokens import first_ids
from debugtracer.observers.graph.model_origins import is_plain
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.trace.facts.interleaved_rows import InterleavedRows

LOSSES = frozenset({"cross_entropy", "nll_loss", "cross_entropy_loss"})
PICKS = {"gather": 2, "take_along_dim": 1}  # of a loss by hand: where the index stands
CUTS = frozenset({"view", "reshape", "unflatten"})
BATCHES = 3  # looked at together, then again with as many more (ours)
MOST_LOOKS = 6  # batches of a run (ours): 10 ms in all
SHIFTED = 0.95  # share of targets that are the next token (ours)
FEWEST_ROWS, SHORTEST = 4, 6  # of a batch: rows, and tokens of each (ours)
FEWEST_PAIRS, MOST_TOKENS = 200, 2048  # pairs that are compared, tokens of a batch that are looked at (ours)
LARGEST = 2**20  # tokens of a batch (ours)
ACROSS = 10.0  # standard deviations from which pairs come again (ours)
ALONG, ALONG_SHARE = 4.0, 0.1  # of those across rows, up to which those along a row may by chance (ours)
JOINED = 5.0  # standard deviations of chance by which joins are more than expected (ours)


class Cut(NamedTuple):
    """A text that was laid out in rows."""

    shape: tuple[int, ...]
    raw: RawFrames


class InterleavedRowsObserver(Observer):
    """On the CPU alone, in the first inspected steps; keeps copies of three small batches."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.ids: Tensor | None = None
        self.batches: list[Tensor] = []
        """Texts by row, whatever the model's own order is."""
        self.cuts: list[Cut] = []
        self.looks = 0

    def reset(self) -> None:
        self.ids, self.looks = None, 0
        self.batches.clear()
        self.cuts.clear()

    @inspected
    def left(self, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Keep the ids of a training call until its loss."""
        if torch.is_grad_enabled() and module.training:
            ids = first_ids((*args, *kwargs.values()))
            self.ids = None if ids is None or ids.numel() > LARGEST else ids.long().clone()

    @inspected
    @of_functions(CUTS, LOSSES, PICKS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a text that is cut into rows; look at the ids whose targets are the next ones."""
        name = getattr(function, "__name__", "")
        if name in CUTS and isinstance(args[0], Tensor) and args[0].dim() == 1 and not args[0].is_floating_point():
            if isinstance(output, Tensor) and output.dim() == 2 and output.shape[1] > 1 and len(self.cuts) < MOST_LOOKS:
                self.cuts.append(Cut(tuple(output.shape), raw_frames(1)))
        elif (name in LOSSES or name in PICKS) and self.ids is not None and torch.is_grad_enabled():
            place, word = (1, "target") if name in LOSSES else (PICKS[name], "index" if name == "gather" else "indices")
            target = args[place] if len(args) > place else kwargs.get(word)
            if isinstance(target, Tensor) and is_plain(target) and not target.is_floating_point():
                dim = next_along(self.ids, target.detach())
                ids, self.ids = self.ids, None if dim is not None or name in LOSSES else self.ids
                self.look(ids, dim)

    def look(self, ids: Tensor, dim: int | None) -> None:
        """Add one batch with the dimension of the next token, and judge as soon as there are enough."""
        texts = ids if dim == 1 else ids.t()
        if dim is None or texts.shape[0] < FEWEST_ROWS or texts.shape[1] < SHORTEST:
            return
        texts = texts[: MOST_TOKENS // SHORTEST]
        texts = texts[:, : max(MOST_TOKENS // texts.shape[0], 1)]
        if self.batches and len(self.batches[0]) != len(texts):
            self.batches.clear()  # of another number of rows; windows of a drawn length are of one text
        self.batches.append(texts)
        self.looks += 1
        if len(self.batches) >= BATCHES:
            self.judge(dim)
            self.batches.clear()
        if self.looks >= MOST_LOOKS:
            self.run.unsubscribe(self.left, self.called)

    def judge(self, dim: int) -> None:
        """Emit rows of which the text goes on in the next row and not along the row."""
        texts = self.batches
        across = [torch.stack((t[:-1].flatten(), t[1:].flatten())) for t in texts]
        pairs = torch.cat(across, 1)
        if pairs.shape[1] < FEWEST_PAIRS or (score := repeated(pairs)) < ACROSS:
            return
        along = repeated(torch.cat([torch.stack((t[:, :-1].flatten(), t[:, 1:].flatten())) for t in texts], 1))
        joins = torch.cat([torch.stack((t[-1, :-1], t[0, 1:])) for t in texts], 1)
        found, expected, spread = joined(joins, pairs)
        if along > max(ALONG, ALONG_SHARE * score) or found < expected + JOINED * spread:
            return
        rows, length = texts[0].shape
        cut = next((c for c in self.cuts if c.shape[1] == rows), None)
        self.run.emit(
            InterleavedRows(
                ref=self.run.ref(), rows=rows, length=length, dim=dim, tokens=sum(t.numel() for t in texts),
                along=along, across=score, joined=found, joins=joins.shape[1], expected=expected,
                frame=first(cut.raw) if cut is not None else None, loss_frame=first(raw_frames(4)),
            )
        )  # fmt: skip


def next_along(ids: Tensor, target: Tensor) -> int | None:
    """The dimension of the ids along which the target is the next one; None where it is along none, or both."""
    found = []
    for dim in (0, 1):
        length, other = int(ids.shape[dim]), int(ids.shape[1 - dim])
        for given in (length, length - 1):
            if given < 1 or target.numel() != given * other:
                continue
            wanted = target.reshape((given, other) if dim == 0 else (other, given)).narrow(dim, 0, length - 1)
            counts = wanted >= 0
            same = (wanted == ids.narrow(dim, 1, length - 1)) & counts
            if int(same.sum()) >= SHIFTED * int(counts.sum()) > 0:
                found.append(dim)
    return found[0] if len(set(found)) == 1 else None
