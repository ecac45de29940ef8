"""Training loops of several kinds with steps of about 0.3, 2, 10 and 100 ms, for benchmarks/steps.py, and loops whose
models differ in the number of their parameters alone."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import DataLoader, TensorDataset

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from benchmarks.overhead import Transformer

Step = Callable[[tuple[Tensor, ...]], None]


class Part(nn.Module):
    """A network in one module, of which a peer can be told."""

    def __init__(self, **parts: nn.Module) -> None:
        super().__init__()
        for name, part in parts.items():
            self.add_module(name, part)


class Recurrent(nn.Module):
    def __init__(self, width: int, layers: int) -> None:
        super().__init__()
        self.tokens, self.lstm = nn.Embedding(64, width), nn.LSTM(width, width, layers, batch_first=True)
        self.head = nn.Linear(width, 64)

    def forward(self, ids: Tensor) -> Tensor:
        return self.head(self.lstm(self.tokens(ids))[0])


class ManyParameters(nn.Module):
    """As many parameters of eight numbers as wanted, and no module for each: what grows is their number alone."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.weights = nn.ParameterList(nn.Parameter(torch.randn(8) * 0.1) for _ in range(count))

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.stack(list(self.weights)).sum(0)


@dataclass(frozen=True)
class Training:
    """A model with its loop: `run(n)` does n steps."""

    model: nn.Module
    batches: Iterable[tuple[Tensor, ...]]
    step: Step

    def run(self, steps: int) -> None:
        for _, batch in zip(range(steps), self.epochs(), strict=False):
            self.step(batch)

    def epochs(self) -> Iterator[tuple[Tensor, ...]]:
        while True:
            yield from self.batches


@dataclass(frozen=True)
class Loop:
    """One row of the benchmark."""

    kind: str
    ms: float  # what a step takes about
    make: Callable[[], Training]
    count: int = 0  # of parameters, where that is what grows

    @property
    def name(self) -> str:
        return f"{self.count} parameters" if self.count else f"{self.kind} {self.ms:g} ms"

    @property
    def chunk(self) -> int:
        """Steps between two looks at the clock: about 0.2 s, a hundred where that is not much more."""
        return min(max(round(200 / self.ms), 3), 100)


def supervised(
    model: nn.Module, rows: tuple[Tensor, ...], batch: int, lr: float = 1e-3, clip: float | None = None
) -> Training:
    """Cross-entropy of the last dimension with Adam."""
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)

    def step(rows: tuple[Tensor, ...]) -> None:
        optimizer.zero_grad()
        logits = model(rows[0])
        functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), rows[1].reshape(-1)).backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()

    return Training(model, DataLoader(TensorDataset(*rows), batch_size=batch, shuffle=True), step)


def mlp(width: int, layers: int, batch: int) -> Training:
    body = [part for _ in range(layers) for part in (nn.Linear(width, width), nn.ReLU())]
    rows = (torch.randn(32 * batch, width), torch.randint(0, 4, (32 * batch,)))
    return supervised(nn.Sequential(*body, nn.Linear(width, 4)), rows, batch)


def small_mlp(width: int = 16, layers: int = 1, batch: int = 32) -> Training:
    """Without a loader and with plain SGD: the least that a step of training does."""
    body = [part for n in range(layers) for part in (nn.Linear(64 if n else width, 64), nn.ReLU())]
    model = nn.Sequential(*body, nn.Linear(64, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(rows: tuple[Tensor, ...]) -> None:
        optimizer.zero_grad()
        functional.cross_entropy(model(rows[0]), rows[1]).backward()
        optimizer.step()

    return Training(model, [(torch.randn(batch, width), torch.randint(0, 4, (batch,))) for _ in range(32)], step)


def by_hand(width: int, layers: int, batch: int) -> Training:
    """Weights written by the loop itself, without an optimizer."""
    body = [part for _ in range(layers) for part in (nn.Linear(width, width), nn.ReLU())]
    model = nn.Sequential(*body, nn.Linear(width, 4))

    def step(rows: tuple[Tensor, ...]) -> None:
        model.zero_grad()
        functional.cross_entropy(model(rows[0]), rows[1]).backward()
        with torch.no_grad():
            for p in model.parameters():
                if p.grad is not None:
                    p -= 0.01 * p.grad

    return Training(model, [(torch.randn(batch, width), torch.randint(0, 4, (batch,))) for _ in range(32)], step)


def cnn(width: int, side: int, batch: int) -> Training:
    layers = [
        nn.Sequential(nn.Conv2d(before, after, 3, stride, 1), nn.BatchNorm2d(after), nn.ReLU())
        for before, after, stride in ((3, width, 1), (width, 2 * width, 2), (2 * width, 2 * width, 1))
    ]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2 * width, 10))
    rows = (torch.randn(16 * batch, 3, side, side), torch.randint(0, 10, (16 * batch,)))
    return supervised(model, rows, batch)


def lstm(width: int, layers: int, length: int, batch: int) -> Training:
    ids = torch.randint(0, 64, (16 * batch, length + 1))
    rows = (ids[:, :-1].clone(), ids[:, 1:].clone())
    return supervised(Recurrent(width, layers), rows, batch, clip=1.0)


def transformer(width: int, layers: int, length: int, batch: int) -> Training:
    ids = torch.randint(0, 96, (16 * batch, length + 1))
    rows = (ids[:, :-1].clone(), ids[:, 1:].clone())
    return supervised(Transformer(96, width, layers, length), rows, batch, lr=1e-4, clip=1.0)


def policy_gradient(acts: int, width: int) -> Training:
    """An actor that acts under no_grad, one state at a time, then one update of policy and value."""
    actor = nn.Sequential(nn.Linear(8, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 4))
    critic = nn.Sequential(nn.Linear(8, width), nn.Tanh(), nn.Linear(width, 1))
    model = Part(actor=actor, critic=critic)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)

    def step(rows: tuple[Tensor, ...]) -> None:
        state, seen, done = rows[0][0], [], []
        with torch.no_grad():
            for _ in range(acts):
                action = torch.distributions.Categorical(logits=actor(state)).sample()
                seen.append(state)
                done.append(action)
                state = torch.sin(state + action)
        states, actions = torch.stack(seen), torch.stack(done)
        gain = states.mean(1) - critic(states).squeeze(1)
        chosen = torch.distributions.Categorical(logits=actor(states)).log_prob(actions)
        optimizer.zero_grad()
        (gain.pow(2).mean() - (chosen * gain.detach()).mean()).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()

    return Training(model, DataLoader(TensorDataset(torch.randn(128, 8)), batch_size=1), step)


def lbfgs(width: int, batch: int, iterations: int) -> Training:
    model = nn.Sequential(nn.Linear(16, width), nn.Tanh(), nn.Linear(width, 1))
    optimizer = torch.optim.LBFGS(model.parameters(), lr=0.1, max_iter=iterations, tolerance_grad=0, tolerance_change=0)

    def step(rows: tuple[Tensor, ...]) -> None:
        def closure() -> Tensor:
            optimizer.zero_grad()
            loss = functional.mse_loss(model(rows[0]).squeeze(1), rows[1])
            loss.backward()
            return loss

        optimizer.step(closure)

    x = torch.randn(4 * batch, 16)
    return Training(model, DataLoader(TensorDataset(x, x.pow(2).mean(1)), batch_size=batch), step)


def scaled(width: int, batch: int) -> Training:
    model = nn.Sequential(nn.Linear(16, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1))
    optimizer, scaler = torch.optim.Adam(model.parameters(), lr=1e-3), torch.amp.GradScaler("cpu", init_scale=256.0)

    def step(rows: tuple[Tensor, ...]) -> None:
        optimizer.zero_grad()
        scaler.scale(functional.mse_loss(model(rows[0]).squeeze(1), rows[1])).backward()
        scaler.step(optimizer)
        scaler.update()

    x = torch.randn(4 * batch, 16)
    return Training(model, DataLoader(TensorDataset(x, x.pow(2).mean(1)), batch_size=batch), step)


def gan(width: int, batch: int) -> Training:
    made = nn.Sequential(nn.Linear(16, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 32))
    judge = nn.Sequential(nn.Linear(32, width), nn.LeakyReLU(0.2), nn.Linear(width, width), nn.Linear(width, 1))
    to_judge, to_make = (torch.optim.Adam(part.parameters(), lr=1e-4) for part in (judge, made))

    def step(rows: tuple[Tensor, ...]) -> None:
        fake = made(torch.randn(batch, 16))
        to_judge.zero_grad()
        (functional.softplus(-judge(rows[0])).mean() + functional.softplus(judge(fake.detach())).mean()).backward()
        to_judge.step()
        to_make.zero_grad()
        functional.softplus(-judge(fake)).mean().backward()
        to_make.step()

    data = TensorDataset(torch.randn(16 * batch, 32))
    return Training(Part(made=made, judge=judge), DataLoader(data, batch_size=batch), step)


def many_parameters(count: int) -> Training:
    model = ManyParameters(count)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step(rows: tuple[Tensor, ...]) -> None:
        optimizer.zero_grad()
        functional.cross_entropy(model(rows[0]), rows[1]).backward()
        optimizer.step()

    return Training(model, [(torch.randn(32, 8), torch.randint(0, 8, (32,))) for _ in range(32)], step)


LOOPS = (
    Loop("mlp", 0.3, small_mlp),
    Loop("mlp", 2, lambda: mlp(128, 4, 16)),
    Loop("mlp", 10, lambda: mlp(384, 4, 48)),
    Loop("mlp", 100, lambda: mlp(1280, 5, 64)),
    # the loops above are named by a machine of 2026-11-21; these take what they say on a quiet core of 2026-11-25
    Loop("timed mlp", 0.3, lambda: small_mlp(64, 3, 180)),
    Loop("timed mlp", 2, lambda: mlp(256, 4, 72)),
    Loop("timed transformer", 2, lambda: transformer(48, 2, 16, 4)),
    Loop("timed transformer", 10, lambda: transformer(132, 3, 40, 4)),
    Loop("by hand", 0.3, lambda: by_hand(16, 1, 32)),
    Loop("by hand", 2, lambda: by_hand(128, 4, 16)),
    Loop("cnn", 2, lambda: cnn(4, 8, 2)),
    Loop("cnn", 10, lambda: cnn(16, 24, 12)),
    Loop("cnn", 100, lambda: cnn(32, 40, 32)),
    Loop("lstm", 2, lambda: lstm(24, 1, 8, 4)),
    Loop("lstm", 10, lambda: lstm(64, 2, 24, 8)),
    Loop("lstm", 100, lambda: lstm(192, 2, 48, 32)),
    Loop("transformer", 2, lambda: transformer(24, 1, 8, 2)),
    Loop("transformer", 10, lambda: transformer(96, 2, 32, 4)),
    Loop("transformer", 100, lambda: transformer(240, 4, 64, 8)),
    Loop("rl", 2, lambda: policy_gradient(4, 64)),
    Loop("rl", 10, lambda: policy_gradient(32, 64)),
    Loop("lbfgs", 2, lambda: lbfgs(16, 32, 1)),
    Loop("lbfgs", 10, lambda: lbfgs(256, 128, 4)),
    Loop("scaled", 2, lambda: scaled(256, 32)),
    Loop("scaled", 10, lambda: scaled(1024, 128)),
    Loop("gan", 2, lambda: gan(48, 8)),
    Loop("gan", 10, lambda: gan(256, 64)),
    Loop("gan", 100, lambda: gan(1024, 192)),
    Loop("parameters", 0.3, lambda: many_parameters(10), 10),
    Loop("parameters", 1, lambda: many_parameters(100), 100),
    Loop("parameters", 10, lambda: many_parameters(1000), 1000),
    Loop("parameters", 100, lambda: many_parameters(10_000), 10_000),
)
