"""Measures the logits that reach a cross-entropy on inspected steps: log Z, the gap between the first and the second
class, the loss itself."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.frames import RawFrames, raw_frames, user_frames
from debugtracer.errors import guarded
from debugtracer.observers.loss.loss_function import arguments, class_dim
from debugtracer.observers.numerics.score_angle import score_angle
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, of_functions
from debugtracer.trace.facts.logit_scale import LogitScale
from debugtracer.trace.number import number

ROWS = 256  # rows of one call: the mean of log Z is known to a few percent (ours)
VALUES = 2_000_000  # logits of one call, 50 ms on one core; fewer rows of a large vocabulary (ours)
MOST_LINES = 8  # lines looked at in one step, each at its first call (ours)
# early steps in which scores that are right by so much are looked into, as scores-hold-targets asks
FIRST, GAP, NOTHING = 8, 40.0, 1e-6
SERIES = "log_z"  # mean |log Z| of the line with the largest, on inspected steps


class LogitScaleObserver(Observer):
    """One host sync for each line that calls cross_entropy in an inspected step."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.at, self.largest = -1, 0.0
        self.lines: set[RawFrames] = set()

    def reset(self) -> None:
        self.lines.clear()

    @of_functions({"cross_entropy"})
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Take the first call of each line in a step, if it has a graph."""
        if (
            getattr(function, "__name__", "") != "cross_entropy"
            or not isinstance(output, Tensor)
            or not output.requires_grad
        ):
            return
        if self.at != self.run.step:
            self.at, self.largest = self.run.step, 0.0
            self.lines.clear()
        line = raw_frames()[:1]
        if line in self.lines or len(self.lines) >= MOST_LINES:
            return
        self.lines.add(line)
        given = arguments("cross_entropy", args, kwargs)
        with torch.no_grad():
            self.measure(given["input"].detach(), given["target"].detach(), given["ignore_index"])

    def measure(self, logits: Tensor, target: Tensor, ignored: int) -> None:
        """Measure the logits of a sample of rows."""
        dim = class_dim("cross_entropy", logits)
        if dim is None or not logits.numel() or logits.shape[dim] < 2 or not logits.is_floating_point():
            return
        rows = logits.movedim(dim, -1).reshape(-1, logits.shape[dim])
        stride = max(1, -(-rows.shape[0] // max(1, min(ROWS, VALUES // rows.shape[1]))))
        rows = rows[::stride].float()
        log_z, top = torch.logsumexp(rows, -1), rows.topk(2, -1).values
        pairs = torch.zeros((), dtype=torch.bool, device=rows.device)
        if target.is_floating_point():
            wanted = target.movedim(dim, -1).reshape(-1, logits.shape[dim])[::stride].float()
            kept, loss = (
                torch.ones_like(log_z),
                log_z * wanted.sum(-1) - torch.where(wanted > 0, wanted * rows, 0.0).sum(-1),
            )
        else:
            index = target.reshape(-1)[::stride]
            pairs = told_places(index, target.numel(), rows.shape[1])
            inside = (index != ignored) & (index >= 0) & (index < rows.shape[1])
            kept, loss = inside.float(), log_z - rows.gather(1, torch.where(inside, index, 0).unsqueeze(1)).squeeze(1)
        means = [
            (torch.where(kept > 0, x, 0.0).sum() / kept.sum()).double()
            for x in (log_z.abs(), top[:, 0] - top[:, 1], loss)
        ]
        size, gap, value, count, paired = torch.stack([*means, kept.sum().double(), pairs.double()]).tolist()
        if not count:
            return
        here, classes = self.run.here(), int(rows.shape[1])
        known = self.run.step < FIRST and gap >= GAP and value <= NOTHING
        angle = guarded("logit_scale.angle")(score_angle)(self.run.modules(), user_frames()) if known else None
        self.run.emit(
            LogitScale(
                ref=self.run.ref(),
                frame=here,
                classes=classes,
                rows=int(count),
                log_z=number(size),
                gap=number(gap),
                loss=number(value),
                angle=number(angle.value) if angle is not None else None,
                angle_frame=angle.frame if angle is not None else None,
                taken_by=angle.function if angle is not None else "",
                pairs=bool(paired),
            )
        )
        if size > self.largest:
            self.largest = size
            self.run.put(SERIES, size)


def told_places(index: Tensor, rows: int, classes: int) -> Tensor:
    """Return, on the device, 1 where targets say at which place the partner of a row stands: all differ and there are
    about as many scores as rows, or all are the same."""
    ordered = index.sort().values
    differ = (ordered[1:] != ordered[:-1]).all()
    return (differ & (classes <= 2 * rows)) | (ordered[0] == ordered[-1])
