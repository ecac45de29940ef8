"""Small training programs, one for each way of training; each yields after a step."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint
from torch.utils.data import DataLoader, Subset, TensorDataset

Program = Callable[[], Iterator[None]]


def rows(*shape: int, seed: int = 5) -> Tensor:
    """Positive numbers."""
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)) + 0.5


def labels(count: int, classes: int, seed: int = 6) -> Tensor:
    """Class numbers."""
    return torch.randint(0, classes, (count,), generator=torch.Generator().manual_seed(seed))


def net(out: int = 3) -> nn.Sequential:
    """A network with a buffer and a draw."""
    return nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Dropout(0.2), nn.ReLU(), nn.Linear(8, out))


def fit(
    model: nn.Module, loss_of: Callable[..., Tensor], batches: Any, optimizer: Any = None, clip: float = 0.0
) -> Iterator[None]:
    """The usual loop."""
    optimizer = optimizer or torch.optim.Adam(model.parameters(), lr=1e-2)
    for batch in batches:
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()
        yield


def classes(model: nn.Module, batch: Any) -> Tensor:
    """Cross-entropy of a batch of a loader."""
    return F.cross_entropy(model(batch[0]), batch[1])


def table(count: int = 48) -> TensorDataset:
    """A data set of rows and labels."""
    return TensorDataset(rows(count, 4), labels(count, 3))


def plain() -> Iterator[None]:
    yield from fit(net(), classes, DataLoader(table(), batch_size=8, shuffle=True), clip=1.0)


def subset_and_momentum() -> Iterator[None]:
    model = net()
    part = Subset(table(), list(range(40, 4, -1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
    yield from fit(model, classes, DataLoader(part, batch_size=6, drop_last=True), optimizer)


def by_index() -> Iterator[None]:
    model, x, y = net(), rows(30, 4), labels(30, 3)
    order = torch.randperm(30, generator=torch.Generator().manual_seed(1))

    def loss_of(model: nn.Module, start: int) -> Tensor:
        taken = order[start : start + 6]
        return F.cross_entropy(model(x[taken]), y[taken])

    yield from fit(model, loss_of, range(0, 30, 6))


def accumulated() -> Iterator[None]:
    model, optimizer = net(), None
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for number, batch in enumerate(DataLoader(table(), batch_size=4)):
        (classes(model, batch) / 3).backward()
        if number % 3 == 2:
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
            yield


def two_players() -> Iterator[None]:
    maker, judge = nn.Linear(2, 4), nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    of_maker, of_judge = torch.optim.Adam(maker.parameters(), 1e-3), torch.optim.RMSprop(judge.parameters(), 1e-3)
    for _ in range(4):
        made = maker(torch.randn(5, 2))
        of_judge.zero_grad()
        (F.softplus(judge(made.detach())).mean() + F.softplus(-judge(rows(5, 4))).mean()).backward()
        of_judge.step()
        of_maker.zero_grad()
        F.softplus(-judge(made)).mean().backward()
        of_maker.step()
        yield


def closure() -> Iterator[None]:
    model, x = nn.Linear(4, 1), rows(8, 4)
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=3)

    def again() -> Tensor:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        return loss

    for _ in range(3):
        optimizer.step(again)
        yield


def scaled() -> Iterator[None]:
    model = nn.Linear(4, 3)
    optimizer, scaler = torch.optim.SGD(model.parameters(), 0.1), torch.amp.GradScaler("cpu", init_scale=64.0)
    for number, batch in enumerate(DataLoader(table(), batch_size=8)):
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16):
            loss = classes(model, batch)
        scaler.scale(loss * (torch.inf if number == 3 else 1.0)).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        yield


def evaluated() -> Iterator[None]:
    model, loader = net(), DataLoader(table(24), batch_size=8)
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    plan = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
    mean = torch.optim.swa_utils.AveragedModel(model)
    for _ in range(2):
        model.train()
        yield from fit(model, classes, loader, optimizer)
        plan.step()
        mean.update_parameters(model)
        model.eval()
        with torch.no_grad():
            for batch in loader:
                classes(model, batch).item()


class Sided(nn.Module):
    """Leaves a term of the loss in an attribute, takes keywords, gives a dict."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 2)
        self.aside: Any = None

    def forward(self, x: Tensor, *, factor: Tensor, more: dict[str, Any]) -> dict[str, Tensor]:
        hidden = self.first(x) * factor
        self.aside = hidden.square().mean()
        return {"scores": self.second(hidden + more["shift"][0]), "hidden": hidden}


class Pair(NamedTuple):
    """A batch with names."""

    x: Tensor
    rest: dict[str, Any]


def sided() -> Iterator[None]:
    model = Sided()

    def loss_of(model: Any, seed: int) -> Tensor:
        pair = Pair(rows(6, 4, seed=seed), {"shift": [torch.ones(4)]})
        given = model(pair.x, factor=torch.tensor(0.5), more=pair.rest)
        return given["scores"].square().mean() + 0.1 * model.aside + given["hidden"][:2].abs().max()

    yield from fit(model, loss_of, range(4))


def written_in_place() -> Iterator[None]:
    model, kept = nn.Linear(4, 4), torch.zeros(6, 4)

    def loss_of(model: nn.Module, seed: int) -> Tensor:
        x = rows(6, 4, seed=seed)
        kept.mul_(0.5).add_(x)
        x[0] = 0.0
        x.clamp_(max=1.0)
        noise = torch.randn_like(x)
        return (model(x + 0.1 * noise) - kept).square().mean() + model(torch.flip(x, [0]))[1:3].sum() * 0.01

    yield from fit(model, loss_of, range(4))


class Stacked(nn.Module):
    """Checkpointed blocks with draws, and a state from step to step."""

    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.Tanh()) for _ in range(2))
        self.register_buffer("seen", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.seen += 1
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False)
        return x


def checkpointed() -> Iterator[None]:
    yield from fit(Stacked(), lambda m, seed: m(rows(5, 4, seed=seed)).square().mean(), range(3))


def recurrent() -> Iterator[None]:
    cell, head = nn.LSTMCell(4, 6), nn.Linear(6, 1)
    optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], 1e-2)
    state = (torch.zeros(3, 6), torch.zeros(3, 6))
    for seed in range(3):
        optimizer.zero_grad()
        loss = torch.zeros(())
        for x in rows(4, 3, 4, seed=seed):
            state = cell(x, state)
            loss = loss + head(state[0]).square().mean()
        loss.backward()
        optimizer.step()
        state = (state[0].detach(), state[1].detach())
        yield


def words() -> Iterator[None]:
    model = nn.ModuleDict({"table": nn.Embedding(9, 4, sparse=True), "head": nn.Linear(4, 9)})
    optimizers = [
        torch.optim.SparseAdam(model["table"].parameters(), 1e-2), torch.optim.Adagrad(model["head"].parameters(), 1e-2)
    ]  # fmt: skip
    for seed in range(4):
        ids = labels(10, 9, seed).reshape(2, 5)
        for optimizer in optimizers:
            optimizer.zero_grad()
        F.cross_entropy(model["head"](model["table"](ids[:, :-1])).flatten(0, 1), ids[:, 1:].flatten()).backward()
        for optimizer in optimizers:
            optimizer.step()
        yield


def called_with_others() -> Iterator[None]:
    model = nn.Linear(4, 2)
    fast = {name: value.detach().clone().requires_grad_() for name, value in model.named_parameters()}

    def loss_of(model: nn.Module, seed: int) -> Tensor:
        x = rows(5, 4, seed=seed)
        inner = torch.func.functional_call(model, fast, (x,)).square().mean()
        (gradient,) = torch.autograd.grad(inner, [fast["weight"]], create_graph=True)
        return model(x).square().mean() + (fast["weight"] - 0.1 * gradient).abs().sum() * 0.01

    yield from fit(model, loss_of, range(3), torch.optim.SGD([*model.parameters(), *fast.values()], 0.1))


def saved_and_loaded() -> Iterator[None]:
    model = net()
    optimizer = torch.optim.Adam(model.parameters(), 1e-2)
    yield from fit(model, classes, DataLoader(table(16), batch_size=8), optimizer)
    kept = copy.deepcopy((model.state_dict(), optimizer.state_dict()))
    yield from fit(model, classes, DataLoader(table(16), batch_size=8), optimizer)
    model.load_state_dict(kept[0])
    optimizer.load_state_dict(kept[1])
    yield from fit(model, classes, DataLoader(table(16), batch_size=8), optimizer)


HEALTHY: tuple[Program, ...] = (
    plain, subset_and_momentum, by_index, accumulated, two_players, closure, scaled, evaluated, sided,
    written_in_place, checkpointed, recurrent, words, called_with_others, saved_and_loaded,
)  # fmt: skip
