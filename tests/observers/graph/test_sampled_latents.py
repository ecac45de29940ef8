"""Draws from distributions in the losses of real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.distributions import (
    Bernoulli,
    Distribution,
    Gamma,
    Independent,
    Laplace,
    MultivariateNormal,
    Normal,
    kl_divergence,
)
from torch.distributions import TransformedDistribution as Transformed
from torch.distributions.transforms import TanhTransform
from torch.nn import functional as F

from debugtracer.trace.facts.graph_reach import SampledLatent
from tests.observers.told import facts, findings
from tests.watching import under_watch


class Coder(nn.Module):
    """Two heads beside a decoder."""

    def __init__(self) -> None:
        super().__init__()
        self.body, self.mean, self.spread = nn.Linear(4, 8), nn.Linear(8, 2), nn.Linear(8, 2)
        self.out = nn.Linear(2, 4)

    def given(self, x: Tensor) -> tuple[Tensor, Tensor]:
        h = torch.tanh(self.body(x))
        return self.mean(h), F.softplus(self.spread(h)) + 0.1

    def normal(self, x: Tensor) -> Normal:
        return Normal(*self.given(x))


Loss = Callable[[Coder, Tensor], Tensor]
STANDARD = Normal(0.0, 1.0)


def of_divergence(m: Coder, x: Tensor) -> Tensor:
    q = m.normal(x)
    return F.mse_loss(m.out(q.sample()), x) + 0.1 * kl_divergence(q, Normal(torch.zeros(2), 1.0)).mean()


def by_hand(m: Coder, x: Tensor) -> Tensor:
    """The divergence is written out, and added before the mean."""
    mean, spread = m.given(x)
    away = (m.out(torch.relu(Normal(mean, spread).sample()) * 2) - x).square().sum(1)
    return (away + 0.1 * (mean.square() + spread.square() - spread.log()).sum(1)).mean()


def without_divergence(m: Coder, x: Tensor) -> Tensor:
    mean, spread = m.given(x)
    return F.mse_loss(m.out(Independent(Gamma(spread, spread), 1).sample()), x) + m.out(mean).square().mean() * 0


def of_tails(m: Coder, x: Tensor) -> Tensor:
    mean, spread = m.given(x)
    q = Laplace(mean, spread)
    return -Normal(m.out(q.sample()), 1.0).log_prob(x).mean() - 0.01 * q.entropy().mean()


def of_covariance(m: Coder, x: Tensor) -> Tensor:
    mean, spread = m.given(x)
    q = MultivariateNormal(mean, torch.diag_embed(spread))
    return (m.out(q.sample((3,))).mean(0) - x).abs().sum() + mean.square().sum()


def squashed(m: Coder, x: Tensor) -> Tensor:
    q = Transformed(m.normal(x), [TanhTransform()])
    return F.l1_loss(m.out(q.sample()), x) + m.spread.weight.square().sum()


def plain_normal(m: Coder, x: Tensor) -> Tensor:
    """The derivative of torch.normal is 0."""
    mean, spread = m.given(x)
    return F.mse_loss(m.out(torch.normal(mean, spread)), x) + 0.1 * (mean.square() + spread).mean()


def reparameterised(m: Coder, x: Tensor) -> Tensor:
    q = m.normal(x)
    return F.mse_loss(m.out(q.rsample()), x) + 0.1 * kl_divergence(q, Normal(torch.zeros(2), 1.0)).mean()


def policy_gradient(m: Coder, x: Tensor) -> Tensor:
    q = m.normal(x)
    action = q.sample()
    baseline = m.out(action).sum(1)
    return -(q.log_prob(action).sum(1) * (x.sum(1) - baseline.detach())).mean() + (baseline - 1).square().mean()


def old_and_new(m: Coder, x: Tensor) -> Tensor:
    """A ratio: another distribution of the same network is asked for the density."""
    with torch.no_grad():
        old = m.normal(x)
        action = old.sample()
    return -(m.normal(x).log_prob(action) - old.log_prob(action)).exp().mean() + m.out(action).square().mean()


def target_network(m: Coder, x: Tensor) -> Tensor:
    with torch.no_grad():
        aim = m.out(m.normal(x).sample())
    also = m.out(m.normal(x + 1).sample()).detach()
    return F.mse_loss(m.out(m.given(x)[0]), aim + also)


def negative_phase(m: Coder, x: Tensor) -> Tensor:
    """Contrastive divergence: the same weights rate what they drew."""
    drawn = Normal(x @ m.body.weight.T, 1.0).sample()
    return (x @ m.body.weight.T).sum() - (drawn @ m.body.weight).square().mean()


def fed_back(m: Coder, x: Tensor) -> Tensor:
    """Scheduled sampling: the distribution is trained by the density of its target."""
    step = m.normal(x)
    return -step.log_prob(x[:, :2]).mean() + F.mse_loss(m.out(step.sample()), x)


def fed_back_named(m: Coder, x: Tensor) -> Tensor:
    mean, spread = m.given(x)
    first = F.gaussian_nll_loss(mean, x[:, :2], spread)
    return first + F.mse_loss(m.out(Normal(mean, spread).sample()), x)


def straight_through(m: Coder, x: Tensor) -> Tensor:
    mean, spread = m.given(x)
    drawn = Normal(mean, spread).sample()
    return F.mse_loss(m.out(drawn + mean + spread - (mean + spread).detach()), x)


def conservative(m: Coder, x: Tensor) -> Tensor:
    """Drawn twice, once with a derivative."""
    rated = m.out(m.normal(x).sample()).logsumexp(1).mean()
    return rated - m.out(m.normal(x).rsample()).mean()


def noisy_input(m: Coder, x: Tensor) -> Tensor:
    return F.mse_loss(m.out(m.given(Normal(x, 0.1).sample())[0]), x) + m.spread(torch.ones(8)).square().mean()


def only_logged(m: Coder, x: Tensor) -> Tensor:
    q = m.normal(x)
    m.out(q.sample()).mean().item()
    return F.mse_loss(m.out(q.rsample()), x)


def discrete(m: Coder, x: Tensor) -> Tensor:
    mean, spread = m.given(x)
    return F.mse_loss(m.out(Bernoulli(logits=mean).sample()), x) + spread.mean()


def monte_carlo(m: Coder, x: Tensor) -> Tensor:
    """The density of the draw is asked for: what it is for is not known."""
    q: Distribution = m.normal(x)
    z = q.sample()
    return F.mse_loss(m.out(z), x) + (q.log_prob(z) - STANDARD.log_prob(z)).mean()


def said_so(m: Coder, x: Tensor) -> Tensor:
    mean, spread = m.given(x)
    return F.mse_loss(m.out(Normal(mean.detach(), spread.detach()).sample()), x) + (mean + spread).square().mean()


def run(out: Path, loss_of: Loss, split: bool = False) -> list[SampledLatent]:
    torch.manual_seed(0)
    model = Coder()
    groups = [[*model.out.parameters()], [p for n, p in model.named_parameters() if not n.startswith("out")]]
    parts = groups if split else [list(model.parameters())]
    optimizers = [torch.optim.SGD(part, lr=0.01) for part in parts]
    with under_watch(out):
        for _ in range(4):
            for optimizer in optimizers:
                optimizer.zero_grad()
            loss_of(model, torch.randn(6, 4)).backward()
            for optimizer in optimizers:
                optimizer.step()
    return facts(out, SampledLatent)


FAULTS = [
    of_divergence, by_hand, without_divergence, of_tails, of_covariance, squashed, plain_normal,
]  # fmt: skip


@pytest.mark.parametrize("loss_of", FAULTS)
def test_a_latent_without_a_graph_is_told_at_its_line(tmp_path: Path, loss_of: Loss):
    found = run(tmp_path, loss_of)
    assert [f.ref.step for f in found] == [0, 1, 2]
    for fact in found:
        assert fact.frame is not None and fact.frame.function == loss_of.__name__
        assert "sample(" in fact.frame.code or "normal(" in fact.frame.code
        assert "spread.weight" in fact.lost and not any(name.startswith("out") for name in fact.lost)
    (finding,) = findings(tmp_path, "detached-graph")[:1]
    assert "expected a reparameterised draw" in finding.message


def test_two_optimizers_that_share_a_backward(tmp_path: Path):
    assert run(tmp_path, of_divergence, split=True)


@pytest.mark.parametrize(
    "loss_of",
    [
        reparameterised, policy_gradient, old_and_new, target_network, negative_phase, fed_back, fed_back_named,
        straight_through, conservative, noisy_input, only_logged, discrete, monte_carlo, said_so,
    ],
)  # fmt: skip
def test_draws_that_are_meant_without_a_graph_are_silent(tmp_path: Path, loss_of: Loss):
    assert run(tmp_path, loss_of) == []


def test_a_critic_that_rates_what_its_actor_drew_is_silent(tmp_path: Path):
    torch.manual_seed(0)
    model = Coder()
    actor = torch.optim.SGD([*model.body.parameters(), *model.mean.parameters(), *model.spread.parameters()], lr=0.01)
    critic = torch.optim.SGD(model.out.parameters(), lr=0.01)
    with under_watch(tmp_path):
        for _ in range(4):
            x = torch.randn(6, 4)
            critic.zero_grad()
            F.mse_loss(model.out(model.normal(x).sample()), x).backward()
            critic.step()
            actor.zero_grad()
            (-model.out(model.normal(x).rsample())).mean().backward()
            actor.step()
    assert facts(tmp_path, SampledLatent) == []


def test_a_draw_is_forgotten_when_steps_were_missed(tmp_path: Path):
    torch.manual_seed(0)
    model = Coder()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    with under_watch(tmp_path) as session:
        for _ in range(2):
            optimizer.zero_grad()
            of_divergence(model, torch.randn(6, 4)).backward()
            session.dispatcher.missed()
            optimizer.step()
    assert facts(tmp_path, SampledLatent) == []
