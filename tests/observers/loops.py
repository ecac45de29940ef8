"""Small training loops as people write them, for the takers that follow updates, schedules and scalers. All are
healthy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import lr_scheduler as S
from torch.utils.data import DataLoader, TensorDataset

mse = nn.functional.mse_loss


def data(steps: int, rows: int = 8) -> list[tuple[Tensor, Tensor]]:
    """Batches of four columns and a target that two of them make."""
    made = torch.Generator().manual_seed(1)
    given = [torch.randn(rows, 4, generator=made) for _ in range(steps)]
    return [(x, x[:, :1] - 0.5 * x[:, 1:2]) for x in given]


def net() -> nn.Sequential:
    """A small network of fixed weights."""
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))


def plain(steps: int = 6, make: Callable[..., Any] = torch.optim.SGD, lr: float = 0.01) -> None:
    """Clear, backward, step."""
    model = net()
    optimizer = make(model.parameters(), lr=lr)
    for x, y in data(steps):
        optimizer.zero_grad()
        mse(model(x), y).backward()
        optimizer.step()


def cleared(how: str) -> Callable[[], None]:
    """One of the many ways to clear gradients."""

    def loop() -> None:
        model = net()
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        for x, y in data(8):
            clear(how, model, optimizer)
            loss = mse(model(x), y)
            loss.backward()
            optimizer.step()
            if how == "after":
                optimizer.zero_grad()
            if how == "decayed":
                for p in model.parameters():
                    p.grad.mul_(0.5)  # type: ignore[union-attr]

    return loop


def clear(how: str, model: nn.Module, optimizer: Any) -> None:
    """Before the forward."""
    if how == "top":
        optimizer.zero_grad()
    elif how == "kept":
        optimizer.zero_grad(set_to_none=False)
    elif how == "model":
        model.zero_grad()
    for p in model.parameters():
        if how == "none":
            p.grad = None
        elif how == "data" and p.grad is not None:
            p.grad.data.zero_()
        elif how == "detached" and p.grad is not None:
            p.grad.detach_()
            p.grad.zero_()


def gan() -> None:
    """Two optimizers in turn; each backward leaves gradients in the other network too."""
    torch.manual_seed(0)
    maker, critic = nn.Linear(3, 4), nn.Linear(4, 1)
    first, second = torch.optim.SGD(maker.parameters(), lr=1e-3), torch.optim.SGD(critic.parameters(), lr=1e-3)
    for x, _ in data(12):
        first.zero_grad()
        (-critic(maker(torch.randn(8, 3))).mean()).backward()
        first.step()
        second.zero_grad()
        (critic(maker(torch.randn(8, 3))).mean() - critic(x).mean()).backward()
        second.step()


def accumulated(n: int = 4, steps: int = 14, divide: bool = True) -> None:
    """Microbatches, with a shorter last window."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    batches = data(steps)
    for i, (x, y) in enumerate(batches):
        loss = mse(model(x), y)
        (loss / n if divide else loss).backward()
        if (i + 1) % n == 0 or i + 1 == len(batches):
            optimizer.step()
            optimizer.zero_grad()


def lbfgs() -> None:
    """Closures."""
    model = net()
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=5)
    for x, y in data(5):

        def closure(x: Tensor = x, y: Tensor = y) -> Tensor:
            optimizer.zero_grad()
            loss = mse(model(x), y)
            loss.backward()
            return loss

        optimizer.step(closure)  # type: ignore[arg-type]


def scaled(init_scale: float = 2.0**24, steps: int = 60, clip: str = "true") -> None:
    """float16 autocast; a large first scale has to be found, as on a GPU."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=init_scale)
    for x, y in data(steps):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.float16):
            out = model(x)
        scaler.scale(mse(out.float(), y)).backward()
        if clip == "true":
            scaler.unscale_(optimizer)
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        else:
            nn.utils.clip_grad_norm_(model.parameters(), (1.0 if clip == "wrong" else scaler.get_scale()))
        scaler.step(optimizer)
        scaler.update()


def policy() -> None:
    """Several backwards per update, for an actor and a critic."""
    torch.manual_seed(0)
    actor, critic = nn.Linear(4, 3), nn.Linear(4, 1)
    first, second = torch.optim.Adam(actor.parameters(), lr=1e-3), torch.optim.Adam(critic.parameters(), lr=1e-3)
    for x, _ in data(10):
        first.zero_grad()
        second.zero_grad()
        for row in x:
            chosen = torch.distributions.Categorical(logits=actor(row))
            value = critic(row)
            (-(chosen.log_prob(chosen.sample()) * (1.0 - value.detach())).sum()).backward()
            ((1.0 - value) ** 2).sum().backward()
        first.step()
        second.step()


def saliency() -> None:
    """After training, gradients for pictures only: cleared and never used."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for i, (x, y) in enumerate(data(70)):
        optimizer.zero_grad()
        mse(model(x), y).backward()
        if i < 4:
            optimizer.step()


def guarded() -> None:
    """A guard that throws a gradient away now and then."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for i, (x, y) in enumerate(data(9)):
        optimizer.zero_grad()
        mse(model(x), y).backward()
        if i % 3 == 1:
            optimizer.zero_grad()
        optimizer.step()


def adversarial() -> None:
    """A backward for the inputs, then one for the weights; norms are measured after the step."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x, y in data(8):
        moved = x.clone().requires_grad_()
        mse(model(moved), y).backward()
        optimizer.zero_grad()
        mse(model((moved + 0.1 * moved.grad.sign()).detach()), y).backward()  # type: ignore[union-attr]
        optimizer.step()
        nn.utils.clip_grad_norm_(model.parameters(), float("inf"))


def sparse() -> None:
    """Sparse and dense optimizers side by side."""
    torch.manual_seed(0)
    table, head = nn.Embedding(50, 4, sparse=True), nn.Linear(4, 1)
    first, second = torch.optim.SparseAdam(table.parameters(), lr=1e-2), torch.optim.SGD(head.parameters(), lr=1e-2)
    for x, y in data(8):
        first.zero_grad()
        second.zero_grad()
        mse(head(table(x[:, 0].abs().mul(9).long())), y).backward()
        first.step()
        second.step()


def frozen_group() -> None:
    """A group with a rate of 0, and an optimizer that takes over."""
    model = net()
    groups = [{"params": model[0].parameters(), "lr": 0.0}, {"params": model[2].parameters()}]
    for optimizer in (torch.optim.AdamW(groups, lr=1e-3), torch.optim.SGD(model.parameters(), lr=1e-3)):
        for x, y in data(25):
            optimizer.zero_grad()
            mse(model(x), y).backward()
            optimizer.step()


def scheduled(
    make: Callable[[Any, int, int], Any], per: str = "step", epochs: int = 5, length: int = 12
) -> Callable[[], None]:
    """A schedule; `make` gets the optimizer, the batches of an epoch and the epochs."""

    def loop() -> None:
        torch.manual_seed(0)
        x = torch.randn(8 * length, 4)
        loader = DataLoader(TensorDataset(x, x[:, :1]), batch_size=8, shuffle=True)
        model = net()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
        scheduler = make(optimizer, length, epochs)
        for _ in range(epochs):
            for a, b in loader:
                optimizer.zero_grad()
                loss = mse(model(a), b)
                loss.backward()
                optimizer.step()
                if per == "step":
                    scheduler.step()
            if per == "epoch":
                scheduler.step(*([loss.item()] if isinstance(scheduler, S.ReduceLROnPlateau) else []))

    return loop


def resumed() -> None:
    """A scheduler wound forward before training."""
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    scheduler = S.StepLR(optimizer, 10)
    for _ in range(5):
        scheduler.step()
    for x, y in data(25):
        optimizer.zero_grad()
        mse(model(x), y).backward()
        optimizer.step()
        scheduler.step()


HEALTHY: dict[str, Callable[[], None]] = {
    "plain": plain,
    **{
        f"cleared_{how}": cleared(how)
        for how in ("top", "kept", "model", "none", "data", "detached", "after", "decayed")
    },
    "gan": gan,
    "accumulated": accumulated,
    "lbfgs": lbfgs,
    "scaled": scaled,
    "scaled_limit": lambda: scaled(2.0**10, 20, "limit"),
    "policy": policy,
    "saliency": saliency,
    "guarded": guarded,
    "adversarial": adversarial,
    "sparse": sparse,
    "frozen_group": frozen_group,
    "resumed": resumed,
    "one_cycle": scheduled(lambda o, length, epochs: S.OneCycleLR(o, 0.1, total_steps=length * epochs)),
    "cosine_epochs": scheduled(lambda o, length, epochs: S.CosineAnnealingLR(o, epochs), "epoch"),
    "cosine_steps": scheduled(lambda o, length, epochs: S.CosineAnnealingLR(o, epochs * length)),
    "restarts": scheduled(lambda o, length, epochs: S.CosineAnnealingWarmRestarts(o, 10)),
    "cyclic": scheduled(lambda o, length, epochs: S.CyclicLR(o, 1e-4, 1e-2, step_size_up=7)),
    "sequence": scheduled(
        lambda o, length, epochs: S.SequentialLR(
            o, [S.LinearLR(o, 0.01, total_iters=9), S.CosineAnnealingLR(o, length * epochs - 9)], [9]
        )
    ),
    "warm_up": scheduled(lambda o, length, epochs: S.LambdaLR(o, lambda step: min(1.0, step / 30))),
    "linear_to_zero": scheduled(
        lambda o, length, epochs: S.LambdaLR(o, lambda step: max(0.0, 1 - step / (length * epochs)))
    ),
    "plateau": scheduled(lambda o, length, epochs: S.ReduceLROnPlateau(o, patience=1), "epoch"),
}
