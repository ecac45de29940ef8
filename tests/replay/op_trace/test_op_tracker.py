"""The ledger: an observer that keeps what a birth needs and nothing of the tensors; births themselves are in
test_birth_*.py."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
import torch
from torch import nn

from debugtracer.replay.op_trace.birth import find_birth
from debugtracer.replay.op_trace.op_tracer import OpTracer
from debugtracer.replay.op_trace.op_tracker import OpTracker
from tests.replay.tracing import line_of, trace


def test_a_birth_has_op_kind_line_values_and_rows():
    x = torch.tensor([[1.0], [0.0], [4.0]])
    birth = trace(lambda: torch.log(x).mean(), rows=3, **{"batch[0]": x})
    assert (birth.op, birth.kind, birth.rows, birth.coordinates) == ("aten::log", "domain", (1,), ((1, 0),))
    assert (birth.inputs[0].name, birth.inputs[0].values, birth.output.neginf) == ("batch[0]", (0.0,), 1)
    assert "torch.log(x)" in line_of(birth)


@pytest.mark.parametrize("steps", [4, 8, 16])
@pytest.mark.parametrize(
    "read",
    [
        lambda x, steps: x.permute(1, 0, 2).contiguous()[2],
        lambda x, steps: x.permute(1, 0, 2).contiguous()[: steps // 2 + 1],
        lambda x, steps: x.permute(1, 0, 2).contiguous()[: steps // 4 * 3],
        lambda x, steps: x.permute(1, 0, 2).contiguous(),
        lambda x, steps: x.permute(1, 0, 2),
        lambda x, steps: x.permute(1, 0, 2).contiguous().flip(0)[steps - 3],
        lambda x, steps: x.permute(1, 0, 2).flip(0),
        lambda x, steps: torch.stack(x.permute(1, 0, 2).contiguous().unbind(0)[:3])[2],
        lambda x, steps: (x.permute(1, 0, 2).contiguous().view(-1, 3) * 2).view(steps, 8, 3)[2],
        lambda x, steps: torch.ones(steps).log() + x[..., 2],
    ],
)
def test_rows_of_a_copy_with_time_first_are_those_of_the_batch_or_not_told(read: Any, steps: int) -> None:
    x = torch.ones(8, steps, 3)
    x[5, 2] = -1.0
    birth = trace(lambda: torch.log(read(x, steps)).sum(), rows=8, **{"batch[0]": x})
    assert birth.op == "aten::log"
    assert birth.rows == (5,) or (birth.rows is None and steps != 16)


@pytest.mark.parametrize("steps", [5, 8])
def test_the_row_of_a_divisor_is_told_behind_a_recurrent_network(steps: int) -> None:
    torch.manual_seed(0)
    x, divisor, cell = torch.randn(8, steps + 1, 3), torch.ones(8), nn.GRU(3, 4, batch_first=True)
    divisor[6] = 0.0
    birth = trace(
        lambda: (cell(x[:, :-1])[0] / divisor[:, None, None]).sum(), rows=8, **{"batch[0]": x, "batch[1]": divisor}
    )
    assert birth.op == "aten::div"
    assert birth.rows == (6,) or (steps == 8 and birth.rows is None)  # as many steps as samples lie the other way


def test_noise_beside_a_condition_leaves_its_rows_known() -> None:
    condition, real, model = torch.ones(8, 1), torch.ones(8, 5), nn.Linear(4, 5)
    real[3] = 0.0
    birth = trace(
        lambda: (model(torch.cat([torch.randn(8, 3), condition], 1)) / real).sum(),
        rows=8,
        **{"batch[0]": condition, "batch[1]": real},
    )
    assert (birth.op, birth.rows) == ("aten::div", (3,))


def test_a_leaf_that_is_cut_from_a_wider_tensor_has_its_rows() -> None:
    x = torch.ones(6, 9)[:, :-1]
    x[4, 3] = 0.0
    assert trace(lambda: (1.0 / x).sum(), rows=6, **{"batch[0]": x}).rows == (4,)
    assert trace(lambda: (1.0 / x[2:, 1:]).sum(), rows=6, **{"batch[0]": x}).rows in ((4,), None)


def test_steps_that_are_stacked_before_as_many_samples_are_not_taken_for_them() -> None:
    x = torch.ones(8, 8)
    x[5, 2] = -1.0
    birth = trace(lambda: torch.log(torch.stack([x[:, t] for t in range(8)])).sum(), rows=8, **{"batch[0]": x})
    assert birth.rows in ((5,), None)


def test_a_mean_over_the_batch_has_no_rows() -> None:
    x = torch.ones(8, 64)
    x[:, 40] = -1.0
    assert trace(lambda: torch.log(x.mean(0)).sum(), rows=8, **{"batch[0]": x}).rows is None


def test_a_ledger_changes_no_number_and_no_generator():
    def step(model: nn.Module) -> torch.Tensor:
        torch.manual_seed(1)
        return torch.nn.functional.dropout(model(torch.ones(3, 4)), 0.5).pow(2).mean()

    model = nn.Linear(4, 4)
    bare = step(model)
    after = torch.get_rng_state()
    with OpTracer(observers=[OpTracker()]):
        watched = step(model)
    assert torch.equal(bare, watched)
    assert torch.equal(after, torch.get_rng_state())


def test_activations_die_under_a_ledger_as_they_would_without_it():
    ledger, died = OpTracker(), []
    with OpTracer(observers=[ledger]):
        hidden = torch.ones(1000) * 2
        weakref.finalize(hidden, died.append, True)
        loss = hidden.sum()
        del hidden
        gc.collect()
    assert died == [True]
    assert find_birth(ledger, [("loss", loss)]) is None


def test_running_statistics_that_the_op_itself_has_spoilt_are_not_what_it_read():
    norm = nn.BatchNorm1d(2)
    x = torch.randn(6, 2)
    x[3, 1] = float("-inf")
    birth = trace(lambda: norm(x).mean(), rows=6, **{"batch[0]": x, "buffer running_var": norm.running_var})
    assert (birth.kind, birth.output.name, birth.rows) == ("input", "batch[0]", (3,))
