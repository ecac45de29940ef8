"""Writes down every op of a traced step, what it read and the range of what it gave: the op table of an incident."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch._ops import OpOverload

from debugtracer.recorder.state.sizes import sizes
from debugtracer.replay.op_trace.classes import floating, plain, tensors
from debugtracer.replay.op_trace.guilty_values import guilty_values
from debugtracer.replay.op_trace.op_records import OpRecords
from debugtracer.trace.op import OpMeta
from debugtracer.trace.store.op_table import OpRow

MOST_SEEN = 50_000  # rows held in memory while a step is traced, about 25 MB
MOST_PRODUCERS = 8  # of one op: a list op of an optimizer reads hundreds


class OpTableRecorder:
    """An OpListener. Feed it before the tracker, whose memory says who wrote what an op reads. Keeps numbers, no
    tensors; syncs the host once or twice per op."""

    def __init__(self, records: OpRecords) -> None:
        self.records = records
        self.rows: list[OpRow] = []
        self.seen = 0
        self.producers: tuple[int, ...] = ()
        self.inputs: tuple[str, ...] = ()
        self.named: dict[int, str] = {}
        """Of each tensor that is read, by its id: the op that wrote it, or its name."""

    def before(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Look up who wrote what the op is going to read."""
        producers: dict[int, None] = {}
        inputs: dict[str, None] = {}
        self.named = {}
        for tensor in tensors([*args, *kwargs.values()]):
            writers, was_there = self.records.memory.writers(tensor)
            producers.update((w.meta.index, None) for w in writers[:4] if w.meta is not None)
            name = self.records.memory.name_of(tensor) if was_there else ""
            if name:
                inputs[name] = None
            last = next((w.meta.index for w in writers[:1] if w.meta is not None), None)
            self.named[id(tensor)] = name or ("" if last is None else str(last))
        self.producers, self.inputs = tuple(producers)[:MOST_PRODUCERS], tuple(inputs)[:MOST_PRODUCERS]

    def after(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any], out: object, meta: OpMeta) -> None:
        """Write the row of an op that has run."""
        self.seen += 1
        if len(self.rows) >= MOST_SEEN:
            return
        results = list(tensors(out)) or written(func, args, kwargs)
        frame = meta.frames[0] if meta.frames else None
        told, shown = measured(results)
        guilty = guilty_values(func, args, kwargs, shown, self.named) if shown is not None else {}
        self.rows.append(
            OpRow(
                index=meta.index,
                op=meta.op,
                direction=meta.direction,
                forward_op=meta.forward_op,
                module=meta.module,
                file=frame.file if frame else None,
                line=frame.line if frame else None,
                code=frame.code[:200] if frame else "",
                producers=self.producers,
                inputs=self.inputs,
                **told,
                **guilty,
            )
        )


def written(func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
    """The tensors that an op without results wrote to, as list ops of optimizers do."""
    for argument, value in zip(func._schema.arguments, args, strict=False):
        if argument.alias_info is not None and argument.alias_info.is_write:
            return list(tensors(value))
    return [t for value in kwargs.values() for t in tensors(value)][:1]


def measured(results: list[Tensor]) -> tuple[dict[str, Any], Tensor | None]:
    """Return range, mean and counts of bad values over all results; shape and dtype of the first, or first bad, one;
    and that where it is bad. Syncs the host."""
    shown: Tensor | None = results[0] if results else None
    nan = inf = numel = 0
    lows: list[float] = []
    highs: list[float] = []
    mean: float | None = None
    for tensor in results:
        numel += tensor.numel()
        if not tensor.numel():
            continue
        low, high, average, bad = ranged(tensor)
        if bad != (0, 0):
            shown = tensor if nan + inf == 0 else shown
            nan, inf = nan + bad[0], inf + bad[1]
        if low is not None and high is not None:
            lows.append(low)
            highs.append(high)
        mean = average if mean is None or shown is tensor else mean
    told = {
        "shape": sizes(shown) if shown is not None else (),
        "dtype": str(shown.dtype).removeprefix("torch.") if shown is not None else "",
        "low": min(lows, default=None),
        "high": max(highs, default=None),
        "mean": mean,
        "nan": nan,
        "inf": inf,
        "numel": numel,
    }
    return told, shown if nan + inf else None


def ranged(tensor: Tensor) -> tuple[float | None, float | None, float | None, tuple[int, int]]:
    """Return least, greatest and mean finite value, and (NaN, Inf) counts. One pass where all is finite: the least and
    the greatest value show it."""
    values = plain(tensor)
    try:
        low, high = torch.aminmax(values)
    except (RuntimeError, NotImplementedError):  # a type without an order
        return None, None, None, (0, 0)
    if not floating(values):
        return float(low), float(high), None, (0, 0)
    numbers = torch.stack([low, high]).tolist()
    if all(map(math.isfinite, numbers)):
        return numbers[0], numbers[1], average(values, values.numel()), (0, 0)
    finite = torch.isfinite(values)
    good = int(torch.count_nonzero(finite))
    nan = int(torch.count_nonzero(torch.isnan(values)))
    bad = (nan, values.numel() - good - nan)
    if not good:
        return None, None, None, bad
    least = float(torch.where(finite, values, math.inf).amin())  # picking the finite ones out takes ten times as long
    greatest = float(torch.where(finite, values, -math.inf).amax())
    return least, greatest, average(torch.where(finite, values, 0), good), bad


def average(values: Tensor, count: int) -> float:
    """The sum of finite values by their count, in double precision only where single precision overflows. Syncs the
    host."""
    dtype = values.dtype if values.element_size() >= 4 else torch.float32
    total = float(values.sum(dtype=dtype))
    return (total if math.isfinite(total) else float(values.sum(dtype=torch.float64))) / count
