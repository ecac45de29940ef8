"""The training runs that the spike detectors are measured on: small, real, on one CPU core; each yields loss, gradient
norm, parameter norm, lr.

`transformer` is a small model with its faults (docs/rationale/spikes.md#detectors); `SEEN` are its healthy but nasty
families; `HELD_OUT` families and faults were not looked at while the thresholds were chosen. Every run is a generator
of
(loss, grad_l2, param_l2, lr), one item per optimizer step; a fault acts from step `AT` on.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as F
from torch import Tensor, nn

AT = 500  # first faulty step
Row = tuple[float, float, float, float]
Draw = Callable[[int], Tensor]  # step -> loss, with a graph


def train(
    model: nn.Module,
    draw: Draw,
    optimizer: torch.optim.Optimizer,
    steps: int,
    *,
    clip: float = math.inf,
    lr: Callable[[int], float] | None = None,
) -> Iterator[Row]:
    """The plain loop; the gradient norm is taken before the clip, as the recorder does."""
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for step in range(steps):
        if lr is not None:
            for group in optimizer.param_groups:
                group["lr"] = lr(step)
        loss = draw(step)
        optimizer.zero_grad()
        loss.backward()
        norm = float(nn.utils.clip_grad_norm_(parameters, clip))
        optimizer.step()
        with torch.no_grad():
            size = math.sqrt(sum(float(p.square().sum()) for p in parameters))
        yield loss.item(), norm, size, optimizer.param_groups[0]["lr"]


# --- the Transformer and its faults
# -------------------------------------------------------------------------------------------------
VOCAB, LENGTH = 64, 64


class Markov:
    """Text of a random Markov chain over 64 tokens, each with four likely successors."""

    def __init__(self, seed: int) -> None:
        self.rng = torch.Generator().manual_seed(seed)
        table = torch.rand(VOCAB, VOCAB, generator=torch.Generator().manual_seed(7)) ** 12
        self.table = table / table.sum(1, keepdim=True)

    def batch(self, rows: int = 16) -> Tensor:
        """Token ids, rows x (LENGTH + 1)."""
        ids = [torch.randint(0, VOCAB, (rows,), generator=self.rng)]
        for _ in range(LENGTH):
            ids.append(torch.multinomial(self.table[ids[-1]], 1, generator=self.rng)[:, 0])
        return torch.stack(ids, 1)


class Gpt(nn.Module):
    """Two causal pre-norm layers of width 64."""

    def __init__(self, dropout: float = 0.0) -> None:
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCAB, 64), nn.Embedding(LENGTH, 64)
        layer = nn.TransformerEncoderLayer(64, 4, 128, dropout, batch_first=True, norm_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, norm=nn.LayerNorm(64), enable_nested_tensor=False)
        self.head = nn.Linear(64, VOCAB)
        self.mask = nn.Transformer.generate_square_subsequent_mask(LENGTH)

    def forward(self, ids: Tensor) -> Tensor:
        """Mean cross-entropy of the next token."""
        x = self.tokens(ids[:, :-1]) + self.places.weight
        return F.cross_entropy(
            self.head(self.layers(x, mask=self.mask, is_causal=True)).flatten(0, 1), ids[:, 1:].flatten()
        )


def transformer(seed: int, fault: str = "", steps: int = 1500) -> Iterator[Row]:
    """Healthy, or with a fault at step AT: one bad batch, or a learning rate that jumps for good."""
    torch.manual_seed(seed)
    text, model = Markov(seed + 100), Gpt()
    rng = torch.Generator().manual_seed(seed)

    def draw(step: int) -> Tensor:
        ids = text.batch()
        if step == AT and fault in ("random", "half"):
            rows = len(ids) if fault == "random" else len(ids) // 2
            ids[:rows] = torch.randint(0, VOCAB, ids[:rows].shape, generator=rng)
        if step == AT and fault == "token":
            ids[:] = 5
        if step >= AT and fault == "labels":  # held out: from here on the text is another language
            ids = ids[:, torch.randperm(ids.shape[1], generator=rng)]
        if AT <= step < AT + 5 and fault == "shard":  # held out: five batches of noise in a row
            ids = torch.randint(0, VOCAB, ids.shape, generator=rng)
        if step == AT and fault == "weights":  # held out: a value in memory changes
            with torch.no_grad():
                model.layers.layers[0].linear1.weight[3, 7] = 3e3
        loss: Tensor = model(ids)
        return loss

    factor = {"lr30": 30.0, "lr8": 8.0}.get(fault, 1.0)
    yield from train(
        model,
        draw,
        torch.optim.AdamW(model.parameters(), 1e-3),
        steps,
        clip=1.0,
        lr=lambda step: 1e-3 * (factor if step >= AT else 1.0),
    )


# --- healthy but nasty, seen while the thresholds were chosen
# ------------------------------------------------------------------------------------
def blobs(seed: int, classes: int = 10, width: int = 20) -> Callable[[int], tuple[Tensor, Tensor]]:
    """Overlapping Gaussian classes."""
    rng = torch.Generator().manual_seed(seed)
    means = torch.randn(classes, width, generator=torch.Generator().manual_seed(3)) * 1.2

    def batch(rows: int) -> tuple[Tensor, Tensor]:
        y = torch.randint(0, classes, (rows,), generator=rng)
        return means[y] + torch.randn(rows, width, generator=rng), y

    return batch


def mlp(*sizes: int, dropout: float = 0.0, act: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    """Linear layers with an activation between them."""
    layers: list[nn.Module] = []
    for a, b in itertools.pairwise(sizes):
        layers += [nn.Linear(a, b), act(), nn.Dropout(dropout)]
    return nn.Sequential(*layers[:-2])


def small_batch(
    seed: int, steps: int, rows: int = 8, dropout: float = 0.0, lr: Callable[[int], float] | None = None
) -> Iterator[Row]:
    """A classifier on batches of 8."""
    torch.manual_seed(seed)
    batch, model = blobs(seed), mlp(20, 64, 64, 10, dropout=dropout)

    def draw(step: int) -> Tensor:
        x, y = batch(rows)
        return F.cross_entropy(model(x), y)

    yield from train(model, draw, torch.optim.AdamW(model.parameters(), 2e-3), steps, lr=lr)


def edge_of_stability(seed: int, steps: int) -> Iterator[Row]:
    """Full-batch gradient descent at a learning rate where sharpness settles at 2 / lr."""
    torch.manual_seed(seed)
    x, y = blobs(seed)(256)
    model = mlp(20, 64, 64, 10, act=nn.Tanh)
    yield from train(model, lambda step: F.cross_entropy(model(x), y), torch.optim.SGD(model.parameters(), 0.8), steps)


def heavy_tail(seed: int, steps: int) -> Iterator[Row]:
    """Regression whose noise is Student t with 3 degrees of freedom."""
    torch.manual_seed(seed)
    noise, model = torch.distributions.StudentT(3.0), mlp(10, 64, 64, 1)

    def draw(step: int) -> Tensor:
        x = torch.randn(32, 10)
        return F.mse_loss(model(x)[:, 0], x[:, :3].sum(1) + noise.sample((32,)))

    yield from train(model, draw, torch.optim.Adam(model.parameters(), 1e-3), steps)


def gan_generator(seed: int, steps: int) -> Iterator[Row]:
    """The generator's loss of a small GAN; the critic trains in between."""
    torch.manual_seed(seed)
    generator, critic = mlp(8, 64, 2), mlp(2, 64, 1)
    other = torch.optim.Adam(critic.parameters(), 1e-3, betas=(0.5, 0.999))

    def draw(step: int) -> Tensor:
        real = torch.randn(64, 2) * 0.2 + torch.randint(0, 2, (64, 1)) * 4.0 - 2.0
        fake = generator(torch.randn(64, 8))
        loss = F.softplus(-critic(real)).mean() + F.softplus(critic(fake.detach())).mean()
        other.zero_grad()
        loss.backward()
        other.step()
        return F.softplus(-critic(fake)).mean()

    yield from train(generator, draw, torch.optim.Adam(generator.parameters(), 1e-3, betas=(0.5, 0.999)), steps)


def autoencoder(seed: int, steps: int) -> Iterator[Row]:
    """Reconstruction of low-rank data."""
    torch.manual_seed(seed)
    basis, model = torch.randn(6, 32), mlp(32, 64, 8, 64, 32)

    def draw(step: int) -> Tensor:
        x = torch.randn(32, 6) @ basis
        return F.mse_loss(model(x), x)

    yield from train(model, draw, torch.optim.Adam(model.parameters(), 2e-3), steps)


class Gru(nn.Module):
    """Reads a sequence, answers with one number."""

    def __init__(self, width: int = 32) -> None:
        super().__init__()
        self.cell, self.head = nn.GRU(2, width, batch_first=True), nn.Linear(width, 1)

    def forward(self, x: Tensor) -> Tensor:
        """The last state, read out."""
        answer: Tensor = self.head(self.cell(x)[0][:, -1])[:, 0]
        return answer


def adding(length: int) -> tuple[Tensor, Tensor]:
    """The adding problem."""
    values, marks = torch.rand(32, length), torch.zeros(32, length)
    marks.scatter_(1, torch.rand(32, length).topk(2).indices, 1.0)
    return torch.stack([values, marks], -1), (values * marks).sum(1)


def gru(seed: int, steps: int) -> Iterator[Row]:
    """A recurrent network with clipping."""
    torch.manual_seed(seed)
    model = Gru()

    def draw(step: int) -> Tensor:
        x, y = adding(24)
        return F.mse_loss(model(x), y)

    yield from train(model, draw, torch.optim.Adam(model.parameters(), 3e-3), steps, clip=1.0)


def restarts(step: int) -> float:
    """Cosine with warm restarts every 200 steps."""
    return 5e-3 * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * (step % 200) / 200)))


Family = Callable[[int, int], Iterator[Row]]
SEEN: dict[str, Family] = {
    "batch of 8": small_batch,
    "dropout 0.3": lambda seed, steps: small_batch(seed, steps, rows=32, dropout=0.3),
    "warm restarts": lambda seed, steps: small_batch(seed, steps, rows=32, lr=restarts),
    "edge of stability": edge_of_stability,
    "heavy tail": heavy_tail,
    "GAN generator": gan_generator,
    "autoencoder": autoencoder,
    "GRU, clipped": gru,
}
