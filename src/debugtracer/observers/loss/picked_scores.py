"""Looks at picks from log-probabilities: is what a pick chooses from what the softmax has normalised?"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from debugtracer.observers.loss.loss_call import VIEWS
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.trace.facts.loss_call import Maker
from debugtracer.trace.facts.picked_scores import PickedScores
from debugtracer.trace.number import number

PICKS = frozenset({"gather", "take_along_dim", "__getitem__"})
MOST_MAKERS, MOST_PICKS = 64, 4  # of one step (ours)
LINKS = 8  # views between the softmax and the pick (ours)


class PickedScoresObserver(Observer):
    """One host sync for a pick from the output of log_softmax, in inspected steps only."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.makers: dict[int, Maker] = {}
        """Sequence number of the graph node -> what made it."""
        self.at, self.picks, self.number = -1, 0, 0

    def reset(self) -> None:
        self.makers.clear()

    @of_functions({"log_softmax"}, PICKS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember a log_softmax, measure a pick from one."""
        name = getattr(function, "__name__", "")
        if name == "log_softmax":
            self.remember(args, kwargs, output)
        elif name in PICKS and self.makers and self.picks < MOST_PICKS and isinstance(args[0], Tensor):
            self.picked(name, args, kwargs)

    def remember(self, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Remember where log-probabilities come from."""
        if self.at != self.run.iteration:
            self.at, self.picks = self.run.iteration, 0
            self.makers.clear()
        node = output.grad_fn if isinstance(output, Tensor) else None
        dim = kwargs.get("dim", args[1] if len(args) > 1 else None)
        if node is not None and isinstance(dim, int) and output.dim() and len(self.makers) < MOST_MAKERS:
            self.makers[node._sequence_nr()] = Maker(
                function="log_softmax", dim=dim, size=int(output.shape[dim]), frame=self.run.here()
            )

    def picked(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Emit a pick of one element along a dimension."""
        scores: Tensor = args[0]
        maker = self.maker(scores)
        dim = dimension(name, args, kwargs) if maker is not None else None
        if maker is None or dim is None or scores.shape[dim] < 2:
            return
        with torch.no_grad():
            sums = scores.detach().double().exp().sum(dim)
            low, high = torch.stack(sums.aminmax()).tolist()
        self.picks += 1
        self.number += 1
        self.run.emit(
            PickedScores(
                ref=self.run.ref(),
                frame=self.run.here(),
                function=name,
                number=self.number - 1,
                maker=maker,
                dim=dim,
                size=int(scores.shape[dim]),
                picks=scores.numel() // int(scores.shape[dim]),
                low=number(low),
                high=number(high),
            )
        )

    def maker(self, given: Tensor) -> Maker | None:
        """The log_softmax whose output this is, seen through views."""
        node = given.grad_fn
        for _ in range(LINKS):
            if node is None:
                return None
            known = self.makers.get(node._sequence_nr())
            if known is not None and node.name().startswith("LogSoftmax"):
                return known
            if not node.name().startswith(VIEWS) or node.name().startswith("Index") or not node.next_functions:
                return None
            node = node.next_functions[0][0]
        return None


def dimension(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int | None:
    """The dimension along which one element is picked for each place of the others; None for any other pick."""
    scores: Tensor = args[0]
    if name == "__getitem__":
        index = args[1] if len(args) > 1 else None
        return by_index(scores, index) if isinstance(index, tuple) else None
    given = dict(zip(("dim", "index") if name == "gather" else ("index", "dim"), args[1:], strict=False)) | kwargs
    dim, index = given.get("dim", given.get("axis")), given.get("index", given.get("indices"))
    if not isinstance(dim, int) or not isinstance(index, Tensor) or index.dim() != scores.dim():
        return None
    dim %= scores.dim()
    others = all(index.shape[n] == scores.shape[n] for n in range(scores.dim()) if n != dim)
    return dim if index.shape[dim] == 1 and others else None


def by_index(scores: Tensor, index: tuple[Any, ...]) -> int | None:
    """The dimension of `scores[rows, classes]` whose index does not count its places: 1 for a target of each row."""
    tensors = [i for i in index if isinstance(i, Tensor) and i.dim() == 1 and not i.is_floating_point()]
    if scores.dim() != 2 or len(index) != 2 or len(tensors) != 2 or any(i.dtype is torch.bool for i in tensors):
        return None
    counts = [
        len(i) == size and bool(torch.equal(i, torch.arange(size, device=i.device)))
        for i, size in zip(tensors, scores.shape, strict=True)
    ]
    return None if counts[0] == counts[1] else counts.index(False)
