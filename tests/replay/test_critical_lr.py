"""How far along the update the loss of its own batch still does not rise."""

import torch
from torch import nn

from debugtracer.replay.critical_lr import CriticalLr, critical_lr, furthest
from debugtracer.replay.past import PastBench
from tests.watching import under_watch


def test_the_search_finds_the_edge_of_a_parabola():
    """loss = (w - f)^2 around w0 = 1 with an update of 1: the loss is back at f = 2."""
    assert abs(furthest(lambda times: (times - 1.0) ** 2) - 2.0) < 0.2
    assert furthest(lambda times: -times) == float("inf")
    assert furthest(lambda times: times) == 0.0


def test_the_critical_rate_of_plain_descent_is_two_over_the_curvature(tmp_path):
    """loss = 0.5 a w^2: a step of lr a w overshoots to the same loss at lr = 2 / a."""
    curvature, lr = 4.0, 0.1
    with under_watch(tmp_path, trials=0) as session:
        w = nn.Parameter(torch.tensor([3.0]))
        update = torch.optim.SGD([w], lr=lr)
        scale = torch.tensor(0.5 * curvature)
        holder = nn.Module()
        holder.w = w
        holder.forward = lambda s: (s * holder.w * holder.w).sum()
        for _ in range(20):
            loss = holder(scale)
            update.zero_grad()
            loss.backward()
            update.step()
        past = session.ring.past(19)
        assert past is not None
        with PastBench(past, session.incidents.scene, None) as bench:
            bench.following = True
            found = critical_lr(bench)
    assert found is not None
    assert found.lr == lr
    assert abs(found.critical - 2 / curvature) < 0.05
    assert found.told == f"the update of the step lowers the loss of its own batch up to lr = {found.critical:.3g}; the rate is 0.1, within it"


def test_the_words_of_the_search():
    assert CriticalLr(0.2, 0.1).told.endswith("up to lr = 0.1; the rate is 0.2, too high")
    assert "at any length down to" in CriticalLr(0.2, 0.0).told
    assert "even 64 times as long" in CriticalLr(0.2, float("inf")).told
