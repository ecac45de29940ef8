"""Terms of losses whose gradients nobody uses, in real loops."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from debugtracer.trace.facts.unused_term import UnusedTerm
from tests.observers.told import facts, findings
from tests.watching import under_watch

Networks = tuple[nn.Module, nn.Module, torch.optim.Optimizer, torch.optim.Optimizer]


def networks() -> Networks:
    torch.manual_seed(0)
    maker, critic = nn.Linear(2, 3), nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    of_maker, of_critic = (torch.optim.Adam(m.parameters(), lr=1e-3) for m in (maker, critic))
    return maker, critic, of_maker, of_critic


def detached(maker: nn.Module, made: Tensor, z: Tensor) -> Tensor:
    return made.detach()


def joined(maker: nn.Module, made: Tensor, z: Tensor) -> Tensor:
    return torch.cat([made.detach(), made.detach()])


def without_graph(maker: nn.Module, made: Tensor, z: Tensor) -> Tensor:
    with torch.no_grad():
        return maker(z)


def whole(maker: nn.Module, made: Tensor, z: Tensor) -> Tensor:
    return made


def real(maker: nn.Module, made: Tensor, z: Tensor) -> Tensor:
    """The gap between real and made scores, printed and minimised: the first half is a constant for the maker."""
    return torch.randn(4, 3)


def game(given: Callable[[nn.Module, Tensor, Tensor], Tensor], clears: str = "optimizer", critics: int = 1) -> None:
    """A GAN whose maker also has a distance to a target."""
    maker, critic, of_maker, of_critic = networks()

    def clear() -> None:
        if clears == "optimizer":
            of_critic.zero_grad()
        elif clears == "module":
            critic.zero_grad(set_to_none=False)
        else:
            for p in critic.parameters():
                p.grad = None

    for _ in range(6):
        for _ in range(critics):
            z = torch.randn(4, 2)
            made = maker(z)
            clear()
            (critic(made.detach()).mean() - critic(torch.randn(4, 3)).mean()).backward()
            of_critic.step()
        believed = -critic(given(maker, made, z)).mean()
        of_maker.zero_grad()
        (believed + 0.1 * made.square().mean()).backward()
        of_maker.step()


@pytest.mark.parametrize("given", [detached, joined, without_graph])
@pytest.mark.parametrize("clears", ["optimizer", "module", "by hand"])
def test_a_term_that_was_cut_off(tmp_path: Path, given: Callable[..., Tensor], clears: str):
    with under_watch(tmp_path):
        game(given, clears)
    found = facts(tmp_path, UnusedTerm)
    assert len(found) >= 3
    assert {(f.number, f.terms, f.used, f.parameters, f.kind, f.other_kind) for f in found} == {
        (0, 2, False, 4, "Adam", "Adam")
    }
    assert found[0].ref.iteration == 1
    assert found[0].cut is not None and found[0].cut.function == given.__name__
    (finding,) = findings(tmp_path, "term-unused")
    assert finding.place.frame == found[0].cut


def test_several_updates_of_the_critic_each_round(tmp_path: Path):
    with under_watch(tmp_path):
        game(detached, critics=5)
    assert len(findings(tmp_path, "term-unused")) == 1


@pytest.mark.parametrize("given", [whole, real])
def test_a_term_that_trains_its_network_or_was_not_cut_off_is_silent(tmp_path: Path, given: Callable[..., Tensor]):
    with under_watch(tmp_path):
        game(given)
    assert all(f.taken is None for f in facts(tmp_path, UnusedTerm))
    assert findings(tmp_path, "term-unused") == []


def together(every: int, accumulated: int, clears_first: bool) -> None:
    """A probe on what an encoder made, with an optimizer of its own, which steps now and then."""
    encoder, probe, of_encoder, of_probe = networks()
    for step in range(12):
        if step % accumulated == 0:
            of_encoder.zero_grad()
            of_probe.zero_grad()
        made = encoder(torch.randn(4, 2))
        (made.square().mean() + F.mse_loss(probe(made.detach()), torch.ones(4, 1))).backward()
        if step % accumulated == accumulated - 1:
            of_encoder.step()
            if step % every == every - 1:
                of_probe.step()
            if clears_first:
                of_probe.zero_grad()
                of_encoder.zero_grad()


@pytest.mark.parametrize(("every", "accumulated", "clears_first"), [(1, 1, False), (4, 1, True), (1, 3, True)])
def test_parts_that_step_with_the_rest_or_later_are_silent(
    tmp_path: Path, every: int, accumulated: int, clears_first: bool
):
    with under_watch(tmp_path):
        together(every, accumulated, clears_first)
    assert findings(tmp_path, "term-unused") == []
    assert not [f for f in facts(tmp_path, UnusedTerm) if not f.used]


def phases() -> None:
    """Two optimizers share one objective and take turns; all gradients are cleared before each."""
    first, second, *optimizers = networks()
    for step in range(12):
        made = first(torch.randn(4, 2))
        loss = second(made.detach()).square().mean() + second(made.clone()).mean() + made.square().mean()
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss.backward()
        optimizers[step % 2].step()


def skipped() -> None:
    """A critic whose first updates are left out, as a scaler does after an overflow."""
    first, second, of_first, of_second = networks()
    for step in range(8):
        of_first.zero_grad()
        of_second.zero_grad()
        made = first(torch.randn(4, 2))
        (made.square().mean() + second(made.detach()).square().mean()).backward()
        of_first.step()
        if step > 3:
            of_second.step()


@pytest.mark.parametrize("loop", [phases, skipped])
def test_turns_and_skipped_updates_are_silent(tmp_path: Path, loop: Callable[[], None]):
    with under_watch(tmp_path):
        loop()
    assert findings(tmp_path, "term-unused") == []


def test_one_optimizer_is_left_alone_and_it_rests_after_the_start(tmp_path: Path):
    with under_watch(tmp_path) as session:
        model = nn.Linear(2, 1)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
        for _ in range(60):
            optimizer.zero_grad()
            (model(torch.randn(4, 2)).mean() + model.weight.square().sum()).backward()
            optimizer.step()
        observer = session.dispatcher.observers["unused-terms"]
        assert observer.rounds == [] and observer.backward_begins in session.dispatcher.run.unwanted
    assert facts(tmp_path, UnusedTerm) == []
