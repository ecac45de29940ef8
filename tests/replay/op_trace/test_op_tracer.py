"""Facts about the op tracer: what observers are told, and that the ops run unchanged."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.trace.birth import Frame
from debugtracer.trace.op import OpMeta


class Seen:
    """An observer that keeps the whereabouts."""

    def __init__(self) -> None:
        self.metas: list[OpMeta] = []
        self.started: list[str] = []
        self.labels: list[str] = []

    def label(self, tensor: torch.Tensor, name: str, part: object) -> None:
        self.labels.append(name)

    def before(self, func: Any, args: Any, kwargs: Any) -> None:
        self.started.append(func._schema.name)

    def after(self, func: Any, args: Any, kwargs: Any, out: object, meta: OpMeta) -> None:
        self.metas.append(meta)

    def of(self, op: str) -> OpMeta:
        return next(m for m in self.metas if m.op == op)


def test_every_op_is_told_before_and_after_in_order() -> None:
    seen = Seen()
    with OpTracer([seen]):
        torch.ones(2).log().sum()
    assert seen.started == [m.op for m in seen.metas]
    assert [m.index for m in seen.metas] == list(range(len(seen.metas)))
    assert "aten::log" in seen.started


def test_module_and_backward_are_known() -> None:
    seen, model = Seen(), nn.Sequential(nn.Linear(2, 2), nn.Sigmoid())
    tracer = OpTracer([seen])
    tracer.name_root(model)
    with tracer:
        model(torch.ones(1, 2)).sum().backward()
    assert (seen.of("aten::sigmoid").module, seen.of("aten::sigmoid").direction) == ("1", "forward")
    assert (seen.of("aten::sigmoid_backward").direction, seen.of("aten::sigmoid_backward").forward_op) == (
        "backward",
        "aten::sigmoid",
    )


def test_an_entry_lends_its_index_and_ends() -> None:
    seen, frame = Seen(), Frame("train.py", 5)
    tracer = OpTracer([seen])
    with tracer:
        with tracer.entry(4, (frame,), "update"), torch.no_grad():
            torch.ones(1).exp()
        torch.ones(1).log()
    assert (seen.of("aten::exp").entry, seen.of("aten::exp").direction) == (4, "update")
    assert seen.of("aten::log").entry is None


def test_names_go_to_observers_that_want_them() -> None:
    class Deaf:
        before = after = staticmethod(lambda *_: None)

    seen = Seen()
    OpTracer([Deaf(), seen]).label(torch.ones(1), "batch[0]")
    assert seen.labels == ["batch[0]"]


def test_a_failing_observer_does_not_fail_the_op(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEBUG_TRACER_STRICT", raising=False)
    seen = Seen()
    seen.after = lambda *_: 1 / 0  # type: ignore[assignment, method-assign, return-value]
    with OpTracer([seen]):
        assert torch.ones(1).exp().log().item() == pytest.approx(1.0)
