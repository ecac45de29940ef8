"""Each op of a traced step has a row: its place, what made its inputs, the range and the bad values of its result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from debugtracer.replay.op_trace.op_table import MOST_PRODUCERS, OpTableRecorder, measured
from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.replay.op_trace.op_tracker import OpTracker
from debugtracer.trace.store.op_table import OpRow
from tests.watching import same_bits

NAN, INF = float("nan"), float("inf")
ROOT = float(torch.tensor(8.0).sqrt())


def traced(step: Callable[[OpTracer], object]) -> list[OpRow]:
    tracker = OpTracker()
    table = OpTableRecorder(tracker)
    with OpTracer([table, tracker]) as tracer:
        step(tracer)
    return table.rows


def named(rows: list[OpRow], op: str, direction: str = "forward") -> OpRow:
    return next(row for row in rows if (row.op, row.direction) == (f"aten::{op}", direction))


def test_forward_and_backward_are_written_with_their_producers_and_inputs() -> None:
    weight = torch.tensor([0.0, 4.0], requires_grad=True)

    def step(tracer: OpTracer) -> None:
        tracer.label(weight, "parameter w")
        (weight * 2).sqrt().sum().backward()

    rows = traced(step)
    double, root = named(rows, "mul"), named(rows, "sqrt")
    assert (double.producers, double.inputs) == ((), ("parameter w",))
    assert root.producers == (double.index,)
    assert (root.shape, root.dtype, root.low, root.high, root.nan, root.inf) == ((2,), "float32", 0.0, ROOT, 0, 0)
    assert root.line is not None
    assert root.file is not None
    born = named(rows, "div", "backward")
    assert (born.forward_op, born.inf, born.numel) == ("aten::sqrt", 1, 2)
    assert born.high == float(torch.tensor(0.5) / torch.tensor(8.0).sqrt())


def test_ranges_are_of_finite_values_and_counts_of_all_results() -> None:
    bad = torch.tensor([[NAN, INF, -INF, 7.0]])
    told, shown = measured([torch.tensor([1.0, 3.0]), bad])
    assert shown is bad
    assert (told["shape"], told["numel"], told["nan"], told["inf"]) == ((1, 4), 6, 1, 2)
    assert (told["low"], told["high"], told["mean"]) == (1.0, 7.0, 7.0)
    assert measured([torch.tensor([NAN])])[0]["low"] is None
    assert measured([torch.empty(0)])[0]["mean"] is None
    assert measured([torch.tensor([2, 5])])[0]["high"] == 5.0
    assert measured([])[0]["dtype"] == ""


def test_a_list_op_that_returns_nothing_is_measured_by_what_it_wrote() -> None:
    weights = [torch.ones(2) for _ in range(3 * MOST_PRODUCERS)]
    rows = traced(lambda tracer: torch._foreach_add_([w.mul(2) for w in weights], 1.0))
    row = named(rows, "_foreach_add_")
    assert (row.low, row.high, row.numel) == (3.0, 3.0, 6 * MOST_PRODUCERS)
    assert len(row.producers) == MOST_PRODUCERS


def test_the_step_computes_the_same_bits_under_the_table() -> None:
    torch.manual_seed(0)
    layer, batch = torch.nn.Linear(4, 4), torch.rand(3, 4)

    def step(_: Any) -> None:
        layer.zero_grad()
        torch.dropout(layer(batch), 0.5, True).log().sum().backward()

    torch.manual_seed(1)
    step(None)
    bare = [p.grad.clone() for p in layer.parameters()]
    torch.manual_seed(1)
    traced(step)
    assert all(same_bits(a, p.grad) for a, p in zip(bare, layer.parameters(), strict=True))
