"""Follows the scores of all rows with one another to the softmax of a contrastive loss: is each row's score with itself
still among them?"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.optim import Optimizer

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.callsites.line import first
from debugtracer.callsites.origins.argument_origin import argument_origin
from debugtracer.callsites.origins.value_origin import written_at
from debugtracer.errors import guarded
from debugtracer.observers.graph.equal_views import NORMALISES
from debugtracer.observers.graph.graph_walk import MOST_PART_NODES, has_graph, node_of, numbers
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected
from debugtracer.recorder.state.identity import ById
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.own_scores import OwnScores
from debugtracer.trace.number import number

SCORES = frozenset({"matmul", "__matmul__", "mm", "einsum", "cosine_similarity", "linear"})
ONE_BY_ONE = frozenset(
    {
        *("div", "__truediv__", "true_divide", "divide", "mul", "__mul__", "__rmul__", "multiply"),
        *("sub", "__sub__", "subtract", "float", "to", "double", "contiguous", "clone"),
    }
)
"""Functions that leave each score where it is, with a number or one number a row beside them."""
WRITES = frozenset({"__setitem__", "__imul__", "__iadd__", "__isub__", "__itruediv__"})
TAKES_AWAY = frozenset({"sub", "__sub__", "__rsub__", "rsub", "subtract", "sub_", "__isub__"})
FEWEST, LARGEST = 8, 2048  # rows (ours: a few are alike by chance; a square of more is dear to read)
NEARLY = 0.95  # of the rows have themselves as the best (ours: two samples may be one)
LOOKS = 16  # inspected steps (ours)
MOST = 8  # sums of a step that are followed (ours)


class Square(NamedTuple):
    """Scores of all rows with one another."""

    raw: RawFrames
    exponential: bool = False
    share: float = 0.0


class Total(NamedTuple):
    """The sums of a row each of such a square's exponentials."""

    square: Square
    rows: int
    raw: RawFrames
    node: int


class OwnScoresObserver(Observer):
    """Follows identities; reads the values of squares alone, in inspected steps."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.squares: ById[Tensor, Square] = ById()
        self.totals: ById[Tensor, Total] = ById()
        self.ready: dict[int, Total] = {}
        """Sums by the number of their node."""
        self.looks = 0

    def reset(self) -> None:
        self.forget()

    def missed(self) -> None:
        """Forget what was made in a step that was not seen to its end."""
        self.forget()

    def forget(self) -> None:
        """Drop what was followed in the step."""
        for store in (self.squares.data, self.totals.data, self.ready):
            store.clear()

    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Note a square of scores, follow it, and look at it where it is normalised."""
        name = getattr(function, "__name__", "")
        if name in SCORES:
            if is_square(output) and is_of_itself(output):
                self.squares[output] = Square(raw_frames(1))
            return
        if not self.squares.data:
            return
        given = args[0] if args else kwargs.get("input")
        if not isinstance(given, Tensor):
            return
        total = self.totals.get(given) if self.totals.data else None
        if total is not None and name in TAKES_AWAY:
            self.ready.pop(total.node, None)  # what is its own is taken away again
        square = self.squares.get(given)
        if square is None:
            return
        if name in NORMALISES and not square.exponential:
            self.normalised(name, square, given, args, kwargs)
        elif name == "exp" and is_square(output):
            self.squares[output] = Square(square.raw, True, own_share(given))
        elif name == "sum" and square.exponential:
            self.summed(square, given, output)
        elif name in WRITES or (name.endswith("_") and not name.endswith("__")):
            self.written(name, given, args)
        elif name in ONE_BY_ONE and is_square(output) and not square.exponential and is_narrow(args[1:]):
            self.squares[output] = square

    def written(self, name: str, given: Tensor, args: tuple[Any, ...]) -> None:
        """Let go of scores that are written to in place, but by one number for all, or by their exponentials."""
        if name == "exp_":
            with torch.no_grad():
                self.squares[given] = Square(self.squares[given].raw, True, own_part(given.detach()))
        elif name not in ("div_", "mul_", "__imul__", "__itruediv__") or not is_narrow(args[1:]):
            del self.squares[given]

    def normalised(
        self, name: str, square: Square, given: Tensor, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Emit scores that torch normalises whole, the score with itself among them and not the target."""
        if not is_of_itself(given):
            return
        raw, target, wanted = raw_frames(2), None, False
        if name == "cross_entropy":
            labels = arguments(name, args, kwargs)["target"]
            if labels.dim() != 1 or labels.is_floating_point() or len(labels) != len(given):
                return
            with torch.no_grad(), torch._C.DisableTorchFunction():
                own = labels == torch.arange(len(labels), device=labels.device)
                wanted = bool(own.all())
                if not wanted and bool(own.any()):
                    return
            if wanted:
                target = guarded("observers.loss.own_scores")(target_line)(raw)
        self.emit(name, square, len(given), own_share(given), raw, wanted, target)

    def summed(self, square: Square, given: Tensor, output: Any) -> None:
        """Note the sums of the rows, which are the whole of a softmax that is written by hand."""
        node = node_of(output) if isinstance(output, Tensor) and output.numel() == len(given) else None
        if node is not None and len(self.ready) < MOST:
            total = Total(square, len(given), raw_frames(2), int(node._sequence_nr()))
            self.totals[output] = self.ready[total.node] = total

    def emit(
        self,
        name: str,
        square: Square,
        rows: int,
        share: float,
        raw: RawFrames,
        wanted: bool = False,
        target: Frame | None = None,
    ) -> None:
        """Write down one line that normalises; `wanted`: each row is its own target, made on the line `target`."""
        self.run.emit(
            OwnScores(
                ref=self.run.ref(), function=name, rows=rows, share=number(share), frame=first(raw),
                scores_frame=first(square.raw), wanted=wanted, target_frame=target,
            )
        )  # fmt: skip

    @inspected
    def backward_begins(self, losses: list[Tensor]) -> None:
        """Emit the sums that lie in the graph of a loss with nothing taken away."""
        if self.ready:
            reached = numbers((loss for loss in losses if has_graph(loss)), MOST_PART_NODES)
            for total in self.ready.values():
                if total.node in reached:
                    self.emit("exp", total.square, total.rows, total.square.share, total.raw)
            self.ready.clear()

    @inspected
    def step_closed(self, optimizer: Optimizer) -> None:
        """Forget what was followed in the step; the form of a loss is known after some."""
        self.forget()
        self.looks += 1
        if self.looks >= LOOKS:
            self.run.unsubscribe(self.called, self.backward_begins, self.step_closed)


def is_square(value: Any) -> bool:
    """Whether it is a square of floats with a graph."""
    return (
        isinstance(value, Tensor)
        and value.dim() == 2
        and FEWEST <= value.shape[0] <= LARGEST
        and value.shape[0] == value.shape[1]
        and value.is_floating_point()
        and is_dense(value)
        and has_graph(value)
    )


def is_narrow(others: tuple[Any, ...]) -> bool:
    """Whether what stands beside the scores is a number, or one for each row."""
    return all(not isinstance(value, Tensor) or value.dim() < 2 or value.shape[-1] == 1 for value in others)


def is_of_itself(square: Tensor) -> bool:
    """Whether it is the same when turned, no row is like the next, and nearly each row scores highest with itself."""
    with torch.no_grad(), torch._C.DisableTorchFunction():
        scores = square.detach().float()
        spread, own = scores.std(), scores.diagonal()
        turned = ((scores - scores.T).abs() <= 1e-3 * spread).all()
        best = (own >= scores.amax(1) - 1e-3 * spread).float().mean() >= NEARLY
        return bool((spread > 0) & turned & best)


def own_share(scores: Tensor) -> float:
    """The mean part of each row's sum of exponentials that is its own."""
    with torch.no_grad(), torch._C.DisableTorchFunction():
        return float(scores.detach().float().softmax(1).diagonal().mean())


def own_part(exponentials: Tensor) -> float:
    """The same of the exponentials themselves."""
    with torch.no_grad(), torch._C.DisableTorchFunction():
        return float((exponentials.diagonal() / exponentials.sum(1)).mean())


def target_line(raw: RawFrames) -> Frame | None:
    """The line that made the target of the cross-entropy at these lines."""
    return written_at(argument_origin(frames_of(raw), ("cross_entropy",), "target", 1))
