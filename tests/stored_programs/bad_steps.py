"""Small training programs that go wrong in one step, one for each way of going wrong."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

from tests.interventions.parts import Half, HandNorm, HandSoftmax, Odd, Twice
from tests.stored_programs.programs import Program, fit, labels, net, rows


class Logarithm(nn.Module):
    """Takes the logarithm of its input beside a layer."""

    def __init__(self, guard: float = 0.0) -> None:
        super().__init__()
        self.body, self.norm, self.guard = nn.Linear(4, 4), nn.LayerNorm(4), guard

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.body(x)) + torch.log(x + self.guard)


class Records(Dataset[Any]):
    """Rows of which some are bad."""

    def __init__(self, **bad: float) -> None:
        self.x = rows(40, 4)
        for name, value in bad.items():
            self.x[int(name[1:]), 2] = value

    def __len__(self) -> int:
        return len(self.x)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        return self.x[index], self.x[index].sum()


def squares(model: nn.Module, batch: Any) -> Tensor:
    """Mean square of the answers."""
    return model(batch[0]).square().mean()


def log_of_a_negative_row() -> Iterator[None]:
    loader = DataLoader(Records(r21=-1.0), batch_size=8, shuffle=True)
    yield from fit(Logarithm(), squares, loader)


def log_of_zero_in_two_rows() -> Iterator[None]:
    yield from fit(Logarithm(), squares, DataLoader(Records(r26=0.0, r28=0.0), batch_size=8))


def batch_with_nan() -> Iterator[None]:
    yield from fit(net(), lambda m, b: squares(m, b), DataLoader(Records(r19=float("nan")), batch_size=8))


def root_of_zero() -> Iterator[None]:
    def loss_of(model: nn.Module, batch: Any) -> Tensor:
        return (model(batch[0]) * (batch[0][:, 2:3] < 5)).square().sum(1).sqrt().mean()

    yield from fit(nn.Linear(4, 3, bias=False), loss_of, DataLoader(Records(r25=9.0), batch_size=10))


def masked_row() -> Iterator[None]:
    def loss_of(model: nn.Module, batch: Any) -> Tensor:
        scores = model(batch[0])
        return torch.softmax(scores.masked_fill(batch[0][:, :3] > 1.35, float("-inf")), dim=-1).square().mean()

    yield from fit(nn.Linear(4, 3), loss_of, DataLoader(Records(r33=2.0), batch_size=8), clip=1.0)


def divided_by_spread() -> Iterator[None]:
    def loss_of(model: nn.Module, batch: Any) -> Tensor:
        x = batch[0] * (batch[0][:, 2:3] < 5)
        return model((x - x.mean(1, keepdim=True)) / x.std(1, keepdim=True)).square().mean()

    yield from fit(net(), loss_of, DataLoader(Records(r17=9.0), batch_size=8))


def rate_too_high() -> Iterator[None]:
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 1))
    yield from fit(model, squares, DataLoader(Records(), batch_size=4), torch.optim.SGD(model.parameters(), lr=60.0))


def exponent() -> Iterator[None]:
    yield from fit(
        nn.Linear(4, 1), lambda m, b: m(b[0]).abs().exp().mean(), DataLoader(Records(r13=400.0), batch_size=8)
    )


def half_overflow() -> Iterator[None]:
    model = nn.Linear(4, 4)

    def loss_of(model: nn.Module, batch: Any) -> Tensor:
        return model(batch[0]).half().mul(200).pow(2).float().mean()

    yield from fit(model, loss_of, DataLoader(Records(r30=30.0), batch_size=8))


def eps_of_zero() -> Iterator[None]:
    model = nn.Linear(4, 2)

    def loss_of(model: Any, number: int) -> Tensor:
        return model(rows(4, 4, seed=number))[:, :1].square().mean()

    yield from fit(model, loss_of, range(3), torch.optim.Adam(model.parameters(), lr=1e-2, eps=0.0))


class Cube(torch.autograd.Function):
    """A derivative that is wrong at 0."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        (x,) = ctx.saved_tensors
        return grads[0] * 3 * x.relu() ** 3 / x.relu()


def own_derivative() -> Iterator[None]:
    yield from fit(nn.Linear(4, 2), lambda m, b: Cube.apply(m(b[0]) + 3).mean(), DataLoader(Records(r11=-40.0), 4))


def labels_all_ignored() -> Iterator[None]:
    def loss_of(model: nn.Module, number: int) -> Tensor:
        y = labels(6, 3, number) if number != 2 else torch.full((6,), -100)
        return F.cross_entropy(model(rows(6, 4, seed=number)), y)

    yield from fit(net(), loss_of, range(5))


def cosine_of_nothing() -> Iterator[None]:
    def loss_of(model: nn.Module, batch: Any) -> Tensor:
        made = model(batch[0] * (batch[0] < 3).all(1, keepdim=True))
        return 1 - (made / made.norm(dim=1, keepdim=True)).sum(1).mean()

    yield from fit(nn.Linear(4, 4, bias=False), loss_of, DataLoader(Records(r14=9.0), batch_size=8))


class Rows(Records):
    """Bad rows are all the same number."""

    def __init__(self, row: int, value: float) -> None:
        super().__init__()
        self.x[row] = value


def around(part: nn.Module, row: int, value: float) -> Iterator[None]:
    """A part by hand that sees the batch first."""
    model = nn.Sequential(part, nn.Linear(4, 2))
    yield from fit(model, squares, DataLoader(Rows(row, value), batch_size=8))


def hand_norm() -> Iterator[None]:
    yield from around(HandNorm(), 17, 1.0)


def hand_softmax() -> Iterator[None]:
    yield from around(HandSoftmax(), 18, 200.0)


def odd_layer() -> Iterator[None]:
    yield from around(Odd(), 19, -1.0)


def half_layer() -> Iterator[None]:
    yield from around(Half(), 20, 900.0)


def twice_layer() -> Iterator[None]:
    class Frozen(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.factor, self.twice = nn.Parameter(torch.ones(4)), Twice()

        def forward(self, x: Tensor) -> Tensor:
            return self.twice(x * self.factor)

    yield from around(Frozen(), 21, 0.0)


def formula(of: Callable[[Tensor, Tensor], Tensor], row: int = 17, value: float = 0.0) -> Iterator[None]:
    """A formula of the batch and the answers of a layer."""
    model = nn.Linear(4, 4)
    yield from fit(model, lambda m, b: of(b[0], m(b[0])).mean(), DataLoader(Rows(row, value), batch_size=8))


def power_of_a_negative() -> Iterator[None]:
    yield from formula(lambda x, y: x.pow(0.5) * y, value=-1.0)


def arc_cosine() -> Iterator[None]:
    yield from formula(lambda x, y: torch.acos(x / 2) + y, value=2.5)


def zero_times_logarithm() -> Iterator[None]:
    yield from formula(lambda x, y: x * torch.log(x) + y.square())


def inverse() -> Iterator[None]:
    yield from formula(lambda x, y: y.square() + 1.0 / x)


def inverse_root() -> Iterator[None]:
    yield from formula(lambda x, y: y.square() * torch.rsqrt(x))


def log_of_one_minus() -> Iterator[None]:
    yield from formula(lambda x, y: y.square() + torch.log1p(-x / 4), value=4.0)


def normalised_without_eps() -> Iterator[None]:
    yield from formula(lambda x, y: F.normalize(x, dim=1, eps=0.0) + y.square())


def hyperbolic() -> Iterator[None]:
    yield from formula(lambda x, y: torch.sinh(x) - torch.cosh(x) + y.square(), value=120.0)


def branch_not_taken() -> Iterator[None]:
    yield from formula(lambda x, y: torch.where(x > 0, torch.log(y.square() * x), torch.zeros_like(x)))


def rate_jumps() -> Iterator[None]:
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    plan = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1e9 if step > 5 else 1.0)
    for _ in fit(model, squares, DataLoader(Records(), batch_size=3), optimizer):
        plan.step()
        yield


def scale_too_high() -> Iterator[None]:
    model = nn.Linear(4, 3)
    optimizer, scaler = torch.optim.SGD(model.parameters(), 0.1), torch.amp.GradScaler("cpu", init_scale=2.0**40)
    for seed in range(4):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.float16):
            loss = F.cross_entropy(model(rows(6, 4, seed=seed)), labels(6, 3, seed))
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        yield


def weights_overwritten() -> Iterator[None]:
    model = net()
    for number, _ in enumerate(fit(model, squares, DataLoader(Records(), batch_size=8))):
        if number == 2:
            with torch.no_grad():
                model[0].weight[1].copy_(torch.zeros(4) / torch.zeros(4))
        yield


def drawn_bad() -> Iterator[None]:
    class Noisy(Records):
        def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
            x, y = super().__getitem__(index)
            return (x - 1.2 * torch.rand(4)).log() if index > 20 else x, y

    yield from fit(net(), squares, DataLoader(Noisy(), batch_size=8))


def second_player() -> Iterator[None]:
    first, second = nn.Linear(4, 4), nn.Linear(4, 4)
    optimizers = [torch.optim.Adam(one.parameters(), 1e-2) for one in (first, second)]
    for seed in range(4):
        x = rows(6, 4, seed=seed)
        for number, (model, optimizer) in enumerate(zip((first, second), optimizers, strict=True)):
            optimizer.zero_grad()
            bad = seed == 2 and number == 1
            (model(x).square().sum(1) * (0.0 if bad else 1.0)).sqrt().mean().backward()
            optimizer.step()
        yield


def accumulated_bad() -> Iterator[None]:
    model = Logarithm()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for number, batch in enumerate(DataLoader(Records(r13=-1.0), batch_size=4)):
        (squares(model, batch) / 2).backward()
        if number % 2:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            yield


def deep_without_norm() -> Iterator[None]:
    model = nn.Sequential(*(nn.Linear(4, 4) for _ in range(24)))
    with torch.no_grad():
        for one in model.parameters():
            one.mul_(30)
    yield from fit(model, squares, DataLoader(Records(), batch_size=8), torch.optim.SGD(model.parameters(), 1e-3))


BAD: tuple[Program, ...] = (
    log_of_a_negative_row, log_of_zero_in_two_rows, batch_with_nan, root_of_zero, masked_row, divided_by_spread,
    rate_too_high, exponent, half_overflow, eps_of_zero, own_derivative, labels_all_ignored, cosine_of_nothing,
    hand_norm, hand_softmax, odd_layer, half_layer, twice_layer, power_of_a_negative, arc_cosine, zero_times_logarithm,
    inverse, inverse_root, log_of_one_minus, normalised_without_eps, hyperbolic, branch_not_taken, rate_jumps,
    scale_too_high, weights_overwritten, drawn_bad, second_player, accumulated_bad, deep_without_norm,
)  # fmt: skip
