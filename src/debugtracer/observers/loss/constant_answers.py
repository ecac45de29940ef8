"""Compares each loss of an inspected step with what the best constant answer would have cost."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from debugtracer.callsites.frames import RawFrames, raw_frames, user_frames
from debugtracer.callsites.origins.drawn_orders import drawn_apart
from debugtracer.errors import guarded
from debugtracer.observers.loss.answer_costs import LEAST, ClassShares, ColumnMeans, Cost, absolute, as_rows, spread
from debugtracer.observers.loss.loss_call import is_dispatched
from debugtracer.observers.loss.loss_function import arguments, class_dim
from debugtracer.observers.loss.row_spread import DIFFERENCES
from debugtracer.observers.model.running_module import running_module
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.trace.birth import Frame
from debugtracer.trace.facts.constant_answer import Answer, ConstantAnswer
from debugtracer.trace.facts.loss_call import BINARY, INDEXED
from debugtracer.trace.number import number

OF_NUMBERS = frozenset({"mse_loss", "l1_loss"})
OF_PAIRS = frozenset({"logsigmoid", "softplus"})
BY_HAND = "sub"  # the word for a difference of a prediction and its targets
ASKED = DIFFERENCES | INDEXED | BINARY | OF_NUMBERS | OF_PAIRS
MOST_CLASSES = 4096  # classes that are counted (ours)
MOST_VALUES = 2_000_000  # of targets or outputs of one call (ours)
MOST_LINES = 8  # lines of a run, each at its first call of a step (ours)
MOST_BY_HAND = 4  # of them that only subtract (ours)


class Line(NamedTuple):
    """A function and the line that calls it."""

    function: str
    raw: RawFrames


class Measured(NamedTuple):
    """One call, its numbers on the device."""

    answer: Answer
    cost: Cost
    spread: Tensor
    targets: float
    """How many a sum adds up."""
    reach: Tensor | None = None
    """The size of the answers as a share of that of the targets."""


class ConstantAnswersObserver(Observer):
    """A few operators and one host sync for each line that calls a loss in an inspected step."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.shares: dict[Line, ClassShares] = {}
        self.means: dict[Line, ColumnMeans] = {}
        self.rows: dict[Line, int] = {}
        self.drawn: dict[Line, tuple[Frame, Frame] | None] = {}
        self.at, self.seen = -1, set[Line]()

    def reset(self) -> None:
        for one in (self.shares, self.means, self.rows, self.drawn, self.seen):
            one.clear()

    @of_functions(lambda name: name.replace("log_sigmoid", "logsigmoid") in ASKED)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Take the first call of each line in a step, if it has a graph."""
        name = getattr(function, "__name__", "").replace("log_sigmoid", "logsigmoid")
        if name not in ASKED or not isinstance(output, Tensor) or not output.requires_grad or is_dispatched(output):
            return
        if self.at != self.run.step:
            self.at = self.run.step
            self.seen.clear()
        line = Line(name, raw_frames()[:1])
        most = MOST_BY_HAND if name in DIFFERENCES else MOST_LINES
        if line in self.seen or (line not in self.rows and len(self.rows) >= most):
            return
        self.seen.add(line)
        with torch.no_grad():
            if name in OF_PAIRS:
                self.pairs(name, output, line)
            elif name in DIFFERENCES:
                self.by_hand(args, output, line)
            else:
                self.measure(name, arguments(name, args, kwargs), output, line)

    def pairs(self, name: str, output: Tensor, line: Line) -> None:
        """Emit the cost of a difference of two scores, which is log 2 where no order is known."""
        if not is_dense(output) or output.numel() > MOST_VALUES or output.dim() > 2 or output.numel() < 2:
            return
        value = abs(float(output.detach().double().mean()))
        self.rows[line] = self.rows.get(line, 0) + output.numel()
        self.run.emit(
            ConstantAnswer(
                ref=self.run.ref(), loss=name, frame=self.run.here(), answer="pairs", value=number(value),
                called=number(value), constant=math.log(2), rows=self.rows[line],
            )
        )  # fmt: skip

    def by_hand(self, args: tuple[Any, ...], output: Tensor, line: Line) -> None:
        """Emit the mean square of a difference between a prediction and its targets in the loop."""
        a, b = (*args, None, None)[:2]
        alike = isinstance(a, Tensor) and isinstance(b, Tensor) and a.shape == b.shape and running_module() is None
        if alike and a.requires_grad != b.requires_grad:
            scores, target = (a, b) if a.requires_grad else (b, a)
            squares = output.detach().double().square().mean() if is_dense(output) else output
            self.measure(BY_HAND, {"input": scores, "target": target, "reduction": "mean"}, squares, line)

    def measure(self, name: str, given: dict[str, Any], output: Tensor, line: Line) -> None:
        """Emit what a call cost and would have cost."""
        scores, target = given["input"], given["target"]
        weighted = given.get("weight") is not None or given.get("pos_weight") is not None
        usable = all(is_dense(one) and 0 < one.numel() <= MOST_VALUES for one in (scores, target))
        if (
            not usable
            or target.requires_grad
            or weighted
            or output.dim()
            or given.get("reduction") not in ("mean", "sum")
        ):
            return
        found = (
            self.of_classes(name, given, line) if name in INDEXED else self.of_rows(name, scores.detach(), target, line)
        )
        if found is None:
            return
        sums = given["reduction"] == "sum"
        called = output.detach().double()
        reach = found.spread.new_zeros(()) if found.reach is None else found.reach
        parts = (called, *found.cost, found.spread, reach)
        values = torch.stack([part.double().to(called.device) for part in parts]).tolist()
        if not all(map(math.isfinite, values[1:])):
            return
        whole, constant, floor, commonest, varied, reached = values
        self.run.emit(
            ConstantAnswer(
                ref=self.run.ref(), loss=name, frame=self.run.here(), answer=found.answer,
                value=number(whole / found.targets if sums else whole), called=number(whole), constant=constant,
                floor=floor, rows=self.rows[line], commonest=commonest or None, spread=varied,
                reach=None if found.reach is None else reached,
                of_batch=self.run.batches.find(target) is not None, drawn=self.orders(name, line),
            )
        )  # fmt: skip

    def orders(self, name: str, line: Line) -> tuple[Frame, Frame] | None:
        """The lines that drew an order for each side. Reads source, once."""
        if line not in self.drawn:
            self.drawn[line] = guarded("constant_answers.orders")(drawn_apart)(user_frames(), name)
        return self.drawn[line]

    def of_classes(self, name: str, given: dict[str, Any], line: Line) -> Measured | None:
        """Measure a cross-entropy."""
        scores, target = given["input"].detach(), given["target"]
        dim = class_dim(name, scores)
        classes = scores.shape[dim] if dim is not None and scores.dim() > 1 else 0
        if dim is None or not 1 < classes <= MOST_CLASSES:
            return None
        answers = scores.movedim(dim, -1).reshape(-1, classes)
        if target.is_floating_point():
            wanted = target.movedim(dim, -1).reshape(-1, classes).double()
            count = len(wanted)
        else:
            kept = target.flatten() != given["ignore_index"]
            index = target.flatten()[kept]
            answers = answers[kept]
            if not len(index) or not bool(((index >= 0) & (index < classes)).all()):
                return None
            count = len(index)
            if len(index) * classes > MOST_VALUES:
                most = max(1, MOST_VALUES // classes)
                index, answers = index[:most], answers[:most]
            wanted = F.one_hot(index.long(), classes).double()
        chances = (answers.softmax(1) if name == "cross_entropy" else answers.exp()).double()
        cost = self.shares.setdefault(line, ClassShares()).cost(wanted, float(given.get("label_smoothing") or 0.0))
        self.rows[line] = self.rows.get(line, 0) + len(wanted)
        return Measured("classes", cost, spread(chances, wanted), float(count))

    def of_rows(self, name: str, scores: Tensor, target: Tensor, line: Line) -> Measured | None:
        """Measure a loss of numbers or of yes and no."""
        if scores.shape != target.shape or not target.dim() or len(target) < 2:
            return None
        wanted, answers = as_rows(target), as_rows(scores)
        tally = self.means.setdefault(line, ColumnMeans())
        if tally.total is not None and len(tally.total) != wanted.shape[1]:
            wanted, answers = wanted.reshape(-1, 1), answers.reshape(-1, 1)
            if len(tally.total) != 1:
                tally = self.means[line] = ColumnMeans()
                self.rows[line] = 0
        self.rows[line] = self.rows.get(line, 0) + len(wanted)
        if name in BINARY:
            answers = answers.sigmoid() if "logits" in name else answers
            return Measured("shares", tally.binary(wanted), spread(answers, wanted), float(wanted.numel()))
        cost = absolute(wanted) if name == "l1_loss" else tally.squared(wanted)
        kind: Answer = "median" if name == "l1_loss" else "mean"
        reach = (answers.square().mean() / wanted.square().mean().clamp_min(LEAST)).sqrt()
        return Measured(kind, cost, spread(answers, wanted), float(wanted.numel()), reach)
