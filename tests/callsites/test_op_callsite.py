"""Facts about where an op comes from: module, line, direction, and the forward op behind a backward one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from debugtracer.callsites.op_callsite import OpCallsites, forward_name, plain_node
from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.trace.op import OpMeta


class Seen:
    """Keeps the whereabouts of every op."""

    def __init__(self) -> None:
        self.metas: list[OpMeta] = []

    def before(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Nothing to keep."""

    def after(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any], out: object, meta: OpMeta) -> None:
        self.metas.append(meta)

    def of(self, op: str, direction: str | None = None) -> list[OpMeta]:
        return [m for m in self.metas if m.op == f"aten::{op}" and direction in (None, m.direction)]


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(3, 3), nn.Tanh())
        self.head = nn.Linear(3, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        hidden = self.body(x).exp()
        return self.head(hidden)


def traced(model: nn.Module, step: Any) -> Seen:
    seen = Seen()
    tracer = OpTracer(observers=[seen])
    tracer.name_root(model)
    with tracer:
        step()
    return seen


def test_a_forward_op_has_the_innermost_module_and_the_user_s_line() -> None:
    model = Net()
    seen = traced(model, lambda: model(torch.ones(2, 3)))
    (tanh,), (exp,) = seen.of("tanh"), seen.of("exp")
    assert (tanh.module, exp.module) == ("body.1", "")
    assert [m.module for m in seen.of("addmm")] == ["body.0", "head"]
    assert exp.frames[0].code == tanh.frames[0].code == "hidden = self.body(x).exp()"
    assert exp.direction == "forward"


def test_a_backward_op_speaks_for_its_forward_op() -> None:
    model = Net()
    seen = traced(model, lambda: F.mse_loss(model(torch.ones(2, 3)), torch.zeros(2, 1)).backward())
    (tanh,) = seen.of("tanh_backward")
    assert (tanh.direction, tanh.node, tanh.forward_op, tanh.module) == (
        "backward",
        "TanhBackward0",
        "aten::tanh",
        "body.1",
    )
    assert tanh.frames[0].code == "hidden = self.body(x).exp()"
    exp = next(m for m in seen.of("mul", "backward") if m.node == "ExpBackward0")
    assert (exp.forward_op, exp.module) == ("aten::exp", "")


def test_a_hand_written_backward_has_its_own_line_first() -> None:
    class Mine(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> Any:
            return grad.sqrt()

    model = Net()
    seen = traced(model, lambda: Mine.apply(model(torch.ones(2, 3))).sum().backward())
    (sqrt,) = seen.of("sqrt")
    assert sqrt.direction == "backward"
    assert sqrt.frames[0].code == "return grad.sqrt()"
    assert sqrt.forward_op is None


@pytest.mark.parametrize("reentrant", [False, True])
def test_an_op_computed_again_by_checkpointing_is_a_forward_op(reentrant: bool) -> None:
    model = Net()
    x = torch.ones(2, 3, requires_grad=True)
    seen = traced(model, lambda: checkpoint(model, x, use_reentrant=reentrant).sum().backward())
    assert [m.direction for m in seen.of("exp")] == ["forward", "forward"]
    assert {m.module for m in seen.of("tanh")} == {"body.1"}
    assert seen.of("tanh_backward")[0].forward_op == "aten::tanh"


LIBRARY = """
import torch
class Norm(torch.nn.Module):
    def forward(self, x):
        return x.log()
class Sqrt(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, grad):
        return grad.sqrt()
"""


def library(tmp_path: Path) -> dict[str, Any]:
    """What an installed package defines."""
    file = tmp_path / "site-packages" / "package" / "loss.py"
    made: dict[str, Any] = {"__name__": "package.loss"}
    exec(compile(LIBRARY, str(file), "exec"), made)
    return made


def test_an_op_inside_a_library_has_the_user_s_line_first_and_the_library_s_beside_it(tmp_path: Path) -> None:
    class Own(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.part = library(tmp_path)["Norm"]()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.part(x)

    model = Own()
    (log,) = (seen := traced(model, lambda: model(torch.ones(2, requires_grad=True)).sum().backward())).of("log")
    assert (log.frames[0].code, log.module) == ("return self.part(x)", "part")
    assert log.library is not None
    assert (Path(log.library.file).name, log.library.line) == ("loss.py", 5)
    (back,) = seen.of("div", "backward")
    assert (back.frames[0].code, back.library) == ("return self.part(x)", log.library)


def test_a_backward_that_a_library_wrote_counts_as_its_own_op(tmp_path: Path) -> None:
    model, function = Net(), library(tmp_path)["Sqrt"]
    (sqrt,) = traced(model, lambda: function.apply(model(torch.ones(2, 3))).sum().backward()).of("sqrt")
    assert (sqrt.direction, sqrt.forward_op) == ("backward", None)
    assert sqrt.library is not None
    assert (sqrt.library.line, sqrt.library.function.split(".")[-1]) == (12, "backward")


def test_an_op_of_an_optimizer_is_an_update() -> None:
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, foreach=False)

    def step() -> None:
        model(torch.ones(2, 3)).sum().backward()
        optimizer.step()

    seen = traced(model, step)
    updates = [m for m in seen.metas if m.direction == "update"]
    assert {m.op for m in updates} >= {"aten::add_"}
    assert updates[-1].frames[0].code == "optimizer.step()"


def test_the_stack_of_modules_is_right_after_an_exception() -> None:
    class Broken(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            raise ValueError

    model = nn.Sequential(nn.ReLU(), Broken())

    def step() -> None:
        with pytest.raises(ValueError):  # noqa: PT011
            model(torch.ones(1))
        torch.ones(1).exp()

    assert traced(model, step).of("exp")[0].module is None


def test_ops_are_numbered_in_their_order() -> None:
    model = Net()
    seen = traced(model, lambda: model(torch.ones(2, 3)).sum().backward())
    assert [m.index for m in seen.metas] == list(range(len(seen.metas)))


def test_a_module_with_a_path_keeps_it_and_wrappers_leave_none() -> None:
    where, model = OpCallsites(), Net()
    where.name_root(model)
    where.name_root(nn.ModuleDict({"module": model}), prefix="again")
    assert where.paths[id(model.head)] == "head"
    other = OpCallsites()
    other.name_root(nn.ModuleDict({"module": model}))
    assert other.paths[id(model.head)] == "head"


@pytest.mark.parametrize(
    ("node", "op"),
    [
        ("SqrtBackward0", "aten::sqrt"),
        ("LogSoftmaxBackward0", "aten::log_softmax"),
        ("NativeLayerNormBackward0", "aten::native_layer_norm"),
        ("MineBackward", None),
        ("NoSuchOpBackward0", None),
    ],
)
def test_a_node_made_before_the_trace_still_names_its_op(node: str, op: str | None) -> None:
    assert forward_name(node) == op


def test_the_name_of_a_node_loses_its_ending() -> None:
    assert plain_node("NativeLayerNormBackward0") == "nativelayernorm"
    assert plain_node("torch::autograd::AccumulateGrad") == "accumulategrad"
