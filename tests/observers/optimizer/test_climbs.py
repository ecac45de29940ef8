"""Whether the first updates go up or down their loss, under a real session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from debugtracer.trace.facts.climb import Climb
from tests.observers.loops import data, gan, net, plain
from tests.observers.observing import observed
from tests.watching import under_watch

F = nn.functional


class Descent(torch.optim.Optimizer):
    """An optimizer of the program's own."""

    def __init__(self, params: Any, lr: float) -> None:
        super().__init__(params, {"lr": lr})

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        for group in self.param_groups:
            for p in group["params"]:
                p.sub_(p.grad, alpha=group["lr"])


def by_hand(write: Callable[[Tensor], None], sign: float = 1.0) -> Callable[[], None]:
    def loop() -> None:
        model = net()
        for x, y in data(6):
            model.zero_grad()
            loss = F.mse_loss(model(x), y)
            if sign < 0:
                loss = -loss
            loss.backward()
            for p in model.parameters():
                write(p)

    return loop


def added(p: Tensor) -> None:
    p.data.add_(0.05 * p.grad)  # type: ignore[operator]


def subtracted(p: Tensor) -> None:
    p.data.add_(-0.05 * p.grad)  # type: ignore[operator]


def taken_negative(p: Tensor) -> None:
    with torch.no_grad():
        p -= -0.05 * p.grad  # type: ignore[operator]


def stepped(make: Callable[..., Any], sign: float = 1.0, **more: Any) -> Callable[[], None]:
    def loop() -> None:
        model = net()
        optimizer = make(model.parameters(), **more)
        for x, y in data(6):
            optimizer.zero_grad()
            loss = F.mse_loss(model(x), y)
            if sign < 0:
                loss = -loss
            loss.backward()
            optimizer.step()

    return loop


@pytest.mark.parametrize(
    ("loop", "turned", "kind", "code"),
    [
        (by_hand(added), False, "", "p.data.add_(0.05 * p.grad)"),
        (by_hand(taken_negative), False, "", "p -= -0.05 * p.grad"),
        (by_hand(subtracted, -1), True, "", "loss = -loss"),
        (stepped(torch.optim.Adam, -1, lr=1e-3), True, "Adam", "loss = -loss"),
        (stepped(torch.optim.SGD, lr=0.1, maximize=True), False, "SGD", "optimizer = make("),
        (stepped(Descent, lr=-0.1), False, "Descent", "p.sub_(p.grad, alpha="),
    ],
    ids=["added", "negative", "loss", "adam", "maximize", "own"],
)
def test_updates_that_climb(tmp_path, loop, turned, kind, code):
    (fact,) = observed(tmp_path / "runs", loop, Climb)
    assert (fact.function, fact.turned, fact.optimizer) == ("squared error", turned, kind)
    assert fact.cosine > 0.5
    assert fact.frame is not None and fact.frame.code.startswith(code)
    assert fact.backward is not None and fact.backward.code == "loss.backward()"


def perturbation() -> None:
    """One delta that a fixed network is to be fooled with."""
    model, delta = net(), torch.zeros(1, 4, requires_grad=True)
    optimizer = torch.optim.Adam([delta], lr=0.1)
    for x, y in data(6):
        loss = -F.mse_loss(model(x + delta), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def forgotten() -> None:
    """A network that was read from a file unlearns."""
    model = net()
    model.load_state_dict(net().state_dict())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x, y in data(6):
        optimizer.zero_grad()
        (-F.mse_loss(model(x), y)).backward()
        optimizer.step()


def rewarded() -> None:
    """A likelihood that is weighed with what an action brought."""
    model = nn.Linear(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x, y in data(6):
        scores = model(x)
        actions = torch.distributions.Categorical(logits=scores).sample()
        optimizer.zero_grad()
        (F.cross_entropy(scores, actions, reduction="none") * -y[:, 0].abs()).mean().backward()
        optimizer.step()


def likelihood() -> None:
    """The log-likelihood is climbed."""
    model = nn.Linear(4, 3)
    for x, y in data(6):
        model.zero_grad()
        (-F.cross_entropy(model(x), (y[:, 0] > 0).long())).backward()
        for p in model.parameters():
            added(p)


def sharpened() -> None:
    """Up to a worse place near by, the gradient there, and down from where it was: SAM by hand."""
    model = net()
    for x, y in data(6):
        start = [p.detach().clone() for p in model.parameters()]
        for rate in (0.05, -0.1):
            model.zero_grad()
            F.mse_loss(model(x), y).backward()
            with torch.no_grad():
                for p, old in zip(model.parameters(), start, strict=True):
                    p.copy_((p if rate > 0 else old) + rate * p.grad)  # type: ignore[operator]


def drawn_near(sign: float, cut: bool = True) -> Callable[[], None]:
    """Two views of each row; the bias before the batch norm has a gradient of nothing but rounding."""

    def loop() -> None:
        encoder = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 8))
        optimizer = torch.optim.SGD(encoder.parameters(), lr=0.05)
        for x, _ in data(6):
            one, two = encoder(x), encoder(x.flip(0))
            optimizer.zero_grad()
            loss = sign * F.cosine_similarity(one, two.detach() if cut else two).mean()
            loss.backward()
            optimizer.step()

    return loop


def test_a_similarity_that_each_update_makes_smaller(tmp_path):
    (fact,) = observed(tmp_path / "runs", drawn_near(1), Climb)
    assert (fact.function, fact.turned, fact.optimizer) == ("cosine similarity", True, "SGD")
    assert fact.frame is not None and fact.frame.code.startswith("loss = sign * F.cosine_similarity")


@pytest.mark.parametrize(
    "loop",
    [plain, gan, perturbation, forgotten, rewarded, likelihood, sharpened, by_hand(subtracted), by_hand(added, -1),
     drawn_near(-1), drawn_near(1, cut=False),
     stepped(torch.optim.SGD, -1, lr=0.1, maximize=True), stepped(Descent, lr=0.1)],
)  # fmt: skip
def test_what_goes_down_or_is_meant_to_go_up(tmp_path, loop):
    assert observed(tmp_path / "runs", loop, Climb) == []


def test_an_update_that_was_not_seen_ends_the_looks(tmp_path):
    with under_watch(tmp_path / "runs") as session:
        observer = session.dispatcher.observers["climbs"]
        model = net()
        ((x, y),) = data(1)
        (-F.mse_loss(model(x), y)).backward()
        assert observer.look is not None
        observer.missed()
        assert (observer.look, observer.sign, observer.reached) == (None, None, [])
        assert observer.backward_begins in session.dispatcher.run.unwanted
