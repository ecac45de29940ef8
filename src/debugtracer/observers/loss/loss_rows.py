"""Reads the loss of each row from the graph of a loss that stands out: what the loss function saved for its backward,
so no forward runs again."""

from __future__ import annotations

from collections import deque
from typing import Any

import torch
from torch import Tensor

from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer
from debugtracer.recorder.gate.norms import scalar
from debugtracer.recorder.tape.batches import Batch, BatchLog
from debugtracer.recorder.tape.equal_rows import known_rows
from debugtracer.recorder.tape.held_rows import HeldRows, all_rows
from debugtracer.trace.facts.loss_rows import LossRows, RowLoss
from debugtracer.trace.number import number

WIDTH, LEAST = 32, 16  # losses looked back at, and how many there must be (ours)
ABOVE = 1.25  # times the largest of them (ours)
DEEP = 8  # nodes between the loss and its function: a division by the number of micro-steps, a view, a cast (ours)
TOP = 10  # rows named (docs/rationale/checks.md#data_outlier_sample)
MOST = 1 << 22  # elements of scores that are read at most (ours)
MOST_EMITTED = 40  # steps per run (ours)


class OutlyingLoss:
    """Is a loss above all of the last WIDTH by a quarter? Such ones are not learnt. Two microseconds."""

    def __init__(self) -> None:
        self.recent: deque[float] = deque(maxlen=WIDTH)

    def push(self, losses: list[Tensor]) -> float | None:
        """The value of the one loss of a backward when it stands out; one on a device is not read."""
        loss = losses[0] if len(losses) == 1 else None
        if loss is None or loss.device.type != "cpu" or loss.numel() != 1 or not loss.is_floating_point():
            return None
        value, most = scalar(loss), max(self.recent, default=0.0)
        if len(self.recent) >= LEAST and 0 < ABOVE * most < value < float("inf"):
            return value
        if value == value:
            self.recent.append(value)
        return None

    def usual(self) -> float:
        """The median of the last losses."""
        return sorted(self.recent)[len(self.recent) // 2]


class LossRowsObserver(Observer):
    """On the CPU only: reading the value of a loss on a device would wait for it."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.standout = OutlyingLoss()
        self.emitted = 0
        self.first = 0.0
        """What the losses were when training began."""

    def reset(self) -> None:
        self.standout = OutlyingLoss()
        self.emitted = 0
        self.first = 0.0

    def missed(self) -> None:
        """Learn the losses anew."""
        self.standout = OutlyingLoss()

    def backward_begins(self, losses: list[Tensor]) -> None:
        """Read the rows of a loss that is above all of the last ones."""
        value = self.standout.push(losses)
        if not self.first and len(self.standout.recent) == LEAST:
            self.first = self.standout.usual()
        if value is not None and self.emitted < MOST_EMITTED:
            self.emitted += 1
            self.read(losses[0], value, self.standout.usual())

    def read(self, loss: Tensor, value: float, usual: float) -> None:
        """Read the rows, if the loss function is one whose saved tensors hold them."""
        node = loss_node(loss.grad_fn)
        batch = self.run.batches.last()
        if node is None or batch is None or not batch.rows:
            return
        with torch.no_grad():
            taken = rows_of_loss(node, self.run.batches, batch)
            rows = row_losses(node, len(taken.at)) if taken.at else None
        if rows is not None:
            unit = float(rows.mean()) / value if is_scaled(loss.grad_fn, node) else 1.0
            self.emit(type(node).__name__, rows, (batch, taken), (value, usual), unit)

    def emit(
        self, name: str, rows: Tensor, of: tuple[Batch, HeldRows], level: tuple[float, float], unit: float
    ) -> None:
        """Emit the losses of the rows as a fact; `level` is the loss and its usual value, `unit` what the rows are in
        that of the loss."""
        (batch, taken), (value, usual) = of, level
        ordered = rows.sort(descending=True)
        median = float(rows.median())
        top = [
            RowLoss(row=row, sample=(batch.samples([row]) or (None,))[0], loss=number(one))
            for one, row in ((one, taken.at[place]) for one, place in zip(*some(ordered), strict=True))
        ]
        self.run.emit(
            LossRows(
                ref=self.run.ref("loss"),
                loss=name,
                value=number(value),
                usual=number(usual),
                first=number(self.first),
                rows=rows.numel(),
                median=number(median),
                mad=number(float((rows - median).abs().median())),
                raised=float((rows > ABOVE * usual * unit).double().mean()),
                top_share=float(rows.max() / rows.sum().clamp_min(1e-30)),
                top=tuple(top),
                samples=batch.indices if len(taken.at) == taken.of else batch.samples(taken.at),
            )
        )


def some(ordered: Any) -> tuple[list[float], list[int]]:
    """The largest rows and where they are."""
    return ordered.values[:TOP].tolist(), ordered.indices[:TOP].tolist()


def rows_of_loss(node: Any, batches: BatchLog, batch: Batch) -> HeldRows:
    """Which rows of the batch a loss function was given, as its target shows; all where that is no leaf of the batch.
    Syncs the host."""
    target = getattr(node, "_saved_target", None)
    found = known_rows(target, batches, batch) if isinstance(target, Tensor) else None
    return found if found is not None else all_rows(batch.rows or 0)


def loss_node(node: Any) -> Any:
    """The node of the loss function behind the scalar; None when it is not near or not one we can read."""
    for _ in range(DEEP):
        if node is None:
            return None
        if type(node).__name__ in READ:
            return node
        node = node.next_functions[0][0] if node.next_functions else None
    return None


def is_scaled(node: Any, inner: Any) -> bool:
    """Whether a loss is what its function gave and nothing else, at most in another unit (divided by the number of
    microbatches, summed over the rows)."""
    for _ in range(DEEP):
        if node is inner:
            return True
        passed = [one for one, _ in node.next_functions if one is not None]
        if len(passed) != 1:
            return False
        node = passed[0]
    return False


def row_losses(node: Any, rows: int) -> Tensor | None:
    """The mean loss of each row; None when elements do not belong to rows. Reads what the node saved, changes
    nothing."""
    try:
        each, counted = READ[type(node).__name__](node)
    except (RuntimeError, AttributeError):
        return None  # freed, or saved by hooks of the user's
    if each.device.type != "cpu" or each.numel() > MOST or each.numel() == 0 or each.numel() % rows:
        return None
    each, counted = each.reshape(rows, -1).double(), counted.reshape(rows, -1).double()
    return (each * counted).sum(1) / counted.sum(1).clamp_min(1.0)


def of_nll(node: Any) -> tuple[Tensor, Tensor]:
    """Read log-probabilities (N, C) or (N, C, ...) and targets; return losses and what counts."""
    scores, target = node._saved_self, node._saved_target
    counted = target != node._saved_ignore_index
    return -scores.gather(1, torch.where(counted, target, 0).unsqueeze(1)).squeeze(1), counted


def of_mse(node: Any) -> tuple[Tensor, Tensor]:
    """Return the squared differences; all of them count."""
    each = (node._saved_self - node._saved_target) ** 2
    return each, torch.ones_like(each)


def of_l1(node: Any) -> tuple[Tensor, Tensor]:
    """Return the absolute differences; good enough to rank smooth_l1 and huber."""
    each = (node._saved_self - node._saved_target).abs()
    return each, torch.ones_like(each)


def of_bce(node: Any) -> tuple[Tensor, Tensor]:
    """Return the binary cross-entropy of logits; all elements count."""
    each = torch.nn.functional.binary_cross_entropy_with_logits(node._saved_self, node._saved_target, reduction="none")
    return each, torch.ones_like(each)


READ = {
    "NllLossBackward0": of_nll,
    "NllLoss2DBackward0": of_nll,
    "MseLossBackward0": of_mse,
    "SmoothL1LossBackward0": of_l1,
    "HuberLossBackward0": of_l1,
    "BinaryCrossEntropyWithLogitsBackward0": of_bce,
}
