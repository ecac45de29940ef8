"""A small causal transformer on sums written out in characters: AdamW, warm-up and cosine, clipping, two micro-batches per update."""

import math
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

ALPHABET = "0123456789+=; "
CONTEXT = 32
WIDTH = 48
HEADS = 4
STEPS = 300
WARMUP = 30
PEAK = 3e-3
MICRO = 2


def sums(count, seed):
    pick = random.Random(seed)
    parts = []
    for _ in range(count):
        a, b = pick.randint(0, 99), pick.randint(0, 99)
        parts.append(f"{a}+{b}={a + b}; ")
    return torch.tensor([ALPHABET.index(c) for c in "".join(parts)])


def batch(codes, g, rows=12):
    starts = torch.randint(0, len(codes) - CONTEXT - 1, (rows,), generator=g)
    window = torch.stack([codes[s : s + CONTEXT + 1] for s in starts])
    return window[:, :-1], window[:, 1:]


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH, bias=False)
        self.out = nn.Linear(WIDTH, WIDTH, bias=False)
        self.register_buffer("seen", torch.tril(torch.ones(CONTEXT, CONTEXT, dtype=torch.bool)))

    def forward(self, x):
        rows, length, _ = x.shape
        q, k, v = self.qkv(x).view(rows, length, 3, HEADS, WIDTH // HEADS).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / math.sqrt(WIDTH // HEADS)
        scores = scores.masked_fill(~self.seen[:length, :length], float("-inf"))
        mixed = scores.softmax(-1) @ v
        return self.out(mixed.transpose(1, 2).reshape(rows, length, WIDTH))


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.before = nn.LayerNorm(WIDTH)
        self.attention = Attention()
        self.between = nn.LayerNorm(WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        x = x + self.attention(self.before(x))
        return x + self.down(F.gelu(self.up(self.between(x))))


class Calculator(nn.Module):
    def __init__(self, depth=2):
        super().__init__()
        self.token = nn.Embedding(len(ALPHABET), WIDTH)
        self.place = nn.Embedding(CONTEXT, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(depth))
        self.last = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, len(ALPHABET), bias=False)

    def forward(self, codes):
        x = self.token(codes) + self.place(torch.arange(codes.shape[1]))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.last(x))


def rate(step):
    if step < WARMUP:
        return (step + 1) / WARMUP
    share = (step - WARMUP) / (STEPS - WARMUP)
    return 0.1 + 0.45 * (1 + math.cos(math.pi * share))


def groups(model):
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    return [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]


@torch.no_grad()
def evaluate(model, codes):
    model.eval()
    g = torch.Generator().manual_seed(99)
    losses = [F.cross_entropy(model(x).flatten(0, 1), y.flatten()).item() for x, y in (batch(codes, g) for _ in range(4))]
    model.train()
    return sum(losses) / len(losses)


def main():
    torch.manual_seed(21)
    train, test = sums(4000, seed=1), sums(400, seed=2)
    g = torch.Generator().manual_seed(4)
    model = Calculator()
    optimizer = torch.optim.AdamW(groups(model), lr=PEAK, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
    for step in range(STEPS):
        optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for _ in range(MICRO):
            x, y = batch(train, g)
            logits = model(x)
            loss = F.cross_entropy(logits.flatten(0, 1), y.flatten())
            (loss / MICRO).backward()
            total += loss.item() / MICRO
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        if step % 20 == 0:
            print(f"step {step} loss {total:.4f} gradient {norm:.3f} lr {schedule.get_last_lr()[0]:.2e}")
        if step % 100 == 99:
            print(f"step {step} test loss {evaluate(model, test):.4f}")


if __name__ == "__main__":
    main()
