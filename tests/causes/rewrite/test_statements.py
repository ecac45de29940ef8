"""Statements that are added, and values that are kept without their graph."""

from __future__ import annotations

import pytest
import torch

from debugtracer.causes.rewrite.rewritten import rewritten


def test_gradients_are_cleared_where_the_optimizer_is_known():
    assert rewritten("loss.backward()", "zero-grad", optimizer="opt") == ("opt.zero_grad()", "loss.backward()")
    assert rewritten("loss.backward()", "zero-grad") is None
    assert rewritten("self.opt.step()", "zero-grad") == ("self.opt.step()", "self.opt.zero_grad()")
    assert rewritten("scaler.step(opt)", "zero-grad") == ("scaler.step(opt)", "opt.zero_grad()")
    assert rewritten("opt.step(lambda: loss)", "zero-grad") is None


def test_the_gradient_is_clipped_before_the_step_over_what_the_optimizer_holds():
    after = rewritten("opt.step()", "clip-gradient", 0.5)
    assert after is not None and after[1] == "opt.step()"
    weight = torch.nn.Parameter(torch.zeros(2))
    weight.grad = torch.tensor([3.0, 4.0])
    opt = torch.optim.SGD([weight], lr=1.0)
    for line in after:
        exec(line, {"torch": torch, "opt": opt})
    assert weight.norm().item() == pytest.approx(0.5, rel=1e-4)


def test_a_microbatch_gets_its_share_when_their_number_is_known():
    assert rewritten("loss.backward()", "share-out", 4) == ("(loss / 4).backward()",)
    assert rewritten("loss.backward()", "share-out") is None


def test_what_is_kept_has_no_graph():
    assert rewritten("total += loss * 2", "detach") == ("total += (loss * 2).detach()",)
    assert rewritten("losses.append(loss)", "detach") == ("losses.append(loss.detach())",)
    assert rewritten("losses[i] = loss", "detach") == ("losses[i] = loss.detach()",)
    assert rewritten("print(loss)", "detach") is None


def test_a_write_in_place_becomes_a_new_tensor():
    assert rewritten("hidden *= gate + 1", "out-of-place") == ("hidden = hidden * (gate + 1)",)
    assert rewritten("x.relu_()", "out-of-place") == ("x = x.relu()",)
    assert rewritten("x[0] *= 2", "out-of-place") is None
    assert rewritten("x.__init__()", "out-of-place") is None


def test_a_graph_that_was_cut_is_kept():
    assert rewritten("pooled = states.mean(1).data", "keep-graph") == ("pooled = states.mean(1)",)
    assert rewritten("h = encoder(x).detach()", "keep-graph") == ("h = encoder(x)",)
    assert rewritten("h = a.detach() + b.detach()", "keep-graph") is None


def test_of_a_straight_through_sum_the_difference_stays_detached():
    for given in ("(z + q - z)", "(z + (q - z))"):
        assert rewritten(f"z = {given}.detach()", "keep-graph") == ("z = z + (q - z).detach()",)
    assert rewritten("z = (z + q - y).detach()", "keep-graph") == ("z = z + q - y",)


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("w = (p - rate * g).detach().requires_grad_()", "w = (p - rate * g).requires_grad_()"),
        ("loss = 2 * (a + b).detach()", "loss = 2 * (a + b)"),
        ("h = (a + b).detach()", "h = a + b"),
        ("h = net(x).detach().relu()", "h = net(x).relu()"),
        ("loss = scale * (x + (q - x)).detach()", "loss = scale * (x + (q - x).detach())"),
    ],
)
def test_what_is_no_longer_cut_off_binds_as_before(code, wanted):
    assert rewritten(code, "keep-graph") == (wanted,)
