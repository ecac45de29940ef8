"""A copy of the model that may be called freely."""

from __future__ import annotations

import random
from contextlib import nullcontext

import pytest
import torch
from torch import nn

from debugtracer.observers.model.shadow_model import ReachesBack, ShadowModel, is_dense, line_of, main_output, unnoticed


def test_the_copy_rests_in_evaluation_mode_and_the_model_stays_as_it_is():
    model = nn.Sequential(nn.Linear(3, 3), nn.BatchNorm1d(3), nn.Dropout(0.5))
    before = {name: value.clone() for name, value in model.state_dict().items()}
    shadow = ShadowModel(model, [])
    x = torch.randn(4, 3)
    first, seen = shadow.run((x,), {})
    again, _ = shadow.run((x,), {})
    assert torch.equal(first, again)
    assert not first.requires_grad
    assert [one.name for one in seen] == ["0", "1", "2", ""]
    assert model.training
    assert not any(m._forward_hooks for m in model.modules())
    assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())


def test_the_line_of_an_attention_is_kept():
    class Attention(nn.Module):
        def forward(self, x):
            weights = torch.softmax(x @ x.transpose(1, 2), -1)
            return weights @ x

    _, seen = ShadowModel(Attention(), []).run((torch.randn(2, 4, 3),), {})
    (code, line) = line_of(seen[0].inside)[0]
    assert code.co_name == "forward"
    assert line == code.co_firstlineno + 1


def test_nothing_is_printed_and_the_generators_are_as_before(capsys):
    torch.manual_seed(1)
    random.seed(1)
    expected = torch.rand(1), random.random()
    torch.manual_seed(1)
    random.seed(1)
    with unnoticed(nullcontext):
        print("inside", torch.rand(5), random.random())
    assert (torch.rand(1), random.random()) == expected
    assert capsys.readouterr().out == ""


def test_the_main_output_of_the_shapes_that_models_give():
    logits, hidden = torch.zeros(2, 3), torch.ones(2, 3)
    assert main_output(logits) is logits
    assert main_output((torch.tensor([1]), logits)) is logits
    assert main_output({"loss": torch.tensor(1.0), "hidden": hidden, "logits": logits}) is logits
    assert main_output({"loss": torch.tensor(1.0), "hidden": hidden}) is hidden
    assert main_output("text") is None


def test_tensors_that_operators_cannot_read_are_not_dense():
    odd = [
        torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(1, 3)]),
        torch.ones(2, 2).to_sparse(),
        torch.ones(2, 2, dtype=torch.complex64),
        torch.ones(2, 2, device="meta"),
        torch.ones(0, 2),
    ]
    assert [is_dense(value) for value in odd] == [False] * 5
    assert is_dense(torch.ones(2, 2)) and is_dense(torch.nn.Parameter(torch.ones(2)))


OUTSIDE = nn.BatchNorm1d(3)


class Global(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return OUTSIDE(self.layer(x))


def test_a_copy_that_reaches_a_module_of_the_program_stops_before_it() -> None:
    model = Global()
    shadow = ShadowModel(model, ())
    with pytest.raises(ReachesBack, match="the copy calls a BatchNorm1d of the program"):
        shadow.run((torch.randn(4, 3),), {})
    assert int(OUTSIDE.num_batches_tracked) == 0
    model(torch.randn(4, 3))  # nothing stays behind
    assert int(OUTSIDE.num_batches_tracked) == 1


def test_parts_in_a_list_and_modules_made_in_the_call_are_its_own() -> None:
    class Listed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = [nn.Linear(3, 3)]

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return nn.ReLU()(self.parts[0](x))

    output, _ = ShadowModel(Listed(), ()).run((torch.randn(4, 3),), {})
    assert output is not None and output.shape == (4, 3)
