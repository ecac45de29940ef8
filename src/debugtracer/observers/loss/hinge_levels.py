"""Measures how far the rows of margin losses lie from the margin: equal distances, or equal scores, leave it alone."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from debugtracer.callsites.frames import RawFrames, frames_of, raw_frames
from debugtracer.observers.graph.graph_walk import has_graph
from debugtracer.observers.loss.loss_function import arguments
from debugtracer.observers.model.shadow_model import is_dense
from debugtracer.observers.observed_run import ObservedRun
from debugtracer.observers.observer import Observer, inspected, of_functions
from debugtracer.trace.facts.hinge_level import HingeLevel
from debugtracer.trace.number import number

MARGINS = frozenset({"triplet_margin_loss", "margin_ranking_loss"})
CUTS = frozenset({"relu", "clamp", "clamp_min", "max", "maximum"})
FEWEST = 8  # rows (ours: fewer are near the margin by chance)
WIDTH = 1 << 16  # numbers that are read (ours)
MOST = 8  # calls of a step (ours)


class HingeLevelsObserver(Observer):
    """Reads four numbers a call, in inspected steps alone."""

    def __init__(self, run: ObservedRun) -> None:
        super().__init__(run)
        self.at = (-1, -1)
        self.seen: list[RawFrames] = []
        """Lines of this step."""

    def reset(self) -> None:
        self.at = (-1, -1)
        self.seen.clear()

    @inspected
    @of_functions(lambda name: name.strip("_") in MARGINS or name.strip("_") in CUTS)
    def called(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> None:
        """Measure a margin loss, or a cut at 0 of one number a row."""
        name = getattr(function, "__name__", "").strip("_")
        if name not in MARGINS and name not in CUTS:
            return
        if not torch.is_grad_enabled() or not isinstance(output, Tensor) or not has_graph(output):
            return
        if self.at != (self.run.iteration, self.run.step):
            self.at = (self.run.iteration, self.run.step)
            self.seen.clear()
        raw = raw_frames(1)
        if len(self.seen) >= MOST or raw in self.seen:
            return
        with torch.no_grad():
            found = rows_of(name, args, kwargs) if name in MARGINS else cut(name, args, kwargs)
            if found is None or found[0].numel() < FEWEST:
                return
            rows, margin = found
            level = rows.mean() if margin is None else rows.new_tensor(margin)
            read = torch.stack(
                [level, (rows - level).abs().max(), rows.clamp(min=0).mean(), (rows < level).float().mean()]
            )
            least, most, mean, share = read.tolist()
            least = least if margin is None else margin
        if not least > 0:
            return
        self.seen.append(raw)
        self.run.emit(
            HingeLevel(
                ref=self.run.ref("forward"), function=name, frame=next(iter(frames_of(raw)), None), rows=rows.numel(),
                margin=number(least), off=number(most / least), mean=number(mean), right=share, by_hand=margin is None,
            )
        )  # fmt: skip


def rows_of(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Tensor, float] | None:
    """The losses of the rows of a margin loss, and its margin: it is called again without gradients."""
    given = arguments(name, args, kwargs)
    sides = [value for value in given.values() if isinstance(value, Tensor)]
    if not all(is_plain(side) for side in sides) or len(sides) < 3:
        return None
    again = {key: value.detach() if isinstance(value, Tensor) else value for key, value in given.items()}
    again.update(size_average=None, reduce=None, reduction="none")
    with torch._C.DisableTorchFunction():
        rows: Tensor = getattr(torch.nn.functional, name)(**again)
    return rows.reshape(-1).float(), float(given["margin"])


def cut(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Tensor, None] | None:
    """Take the one number a row that is cut at 0 from below: `relu(x)`, `x.clamp(min=0)`, `max(x, zeros)`."""
    tensors = [value for value in (*args[:2], *kwargs.values()) if isinstance(value, Tensor)]
    graph = [value for value in tensors if has_graph(value)]
    if len(graph) != 1 or not is_plain(graph[0]) or graph[0].dim() > 2 or graph[0].shape[1:] not in ((), (1,)):
        return None
    if name in ("clamp", "clamp_min"):
        low = kwargs.get("min", args[1] if len(args) > 1 else None)
        high = kwargs.get("max", args[2] if len(args) > 2 else None)
        if high is not None or isinstance(low, Tensor) or low != 0:
            return None
    elif name in ("max", "maximum"):
        other = next((value for value in tensors if value is not graph[0]), None)
        if other is None or not is_plain(other) or bool(other.any()):
            return None
    return graph[0].detach().reshape(-1).float(), None


def is_plain(value: Tensor) -> bool:
    """Whether values can be read of it, and are few."""
    return is_dense(value) and value.is_floating_point() and 0 < value.numel() <= WIDTH
