"""The four scores of a trial."""

import math

import torch

from debugtracer.replay.trials.score import FirstBad, Score, all_finite, norm


def test_the_norm_of_all_tensors_together():
    assert norm([torch.tensor([3.0]), torch.tensor([[0.0, 4.0]])]) == 5.0
    assert norm([]) == 0.0
    assert math.isnan(norm([torch.tensor([math.nan])]))


def test_a_sparse_gradient_counts_by_its_values():
    assert norm([torch.sparse_coo_tensor([[0, 0]], [3.0, 1.0], (4,))]) == 4.0


def test_finite_is_finite_everywhere():
    assert Score(loss=1.0, grad_l2=2.0, finite_update=True).finite
    assert not Score(loss=math.inf).finite
    assert not Score(finite_update=False).finite
    assert not Score(finite_output=False).finite
    assert not Score(refused="no batch").finite
    assert all_finite([torch.ones(2)])
    assert not all_finite([torch.ones(2), torch.tensor([math.inf])])


def test_the_first_op_that_gives_nan_is_named():
    with FirstBad() as watch:
        x = torch.tensor([0.0, 1.0])
        y = x.log()
        (y * x).sum()
    assert (watch.inf, watch.nan, watch.op) == ("aten::log", "aten::mul", "aten::mul")


def test_healthy_ops_leave_no_name():
    with FirstBad() as watch:
        (torch.ones(3) * 2).sum()
    assert watch.op is None


def test_memory_as_it_was_left_is_no_bad_value():
    torch.use_deterministic_algorithms(True)  # which fills it with NaN
    try:
        with FirstBad() as watch:
            torch.empty_like(torch.ones(3))
            torch.ones(3).new_empty(2)
            torch.empty(4).fill_(1.0).log()
    finally:
        torch.use_deterministic_algorithms(False)
    assert watch.op is None
