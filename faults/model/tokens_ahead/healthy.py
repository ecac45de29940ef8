"""A small language model on a made-up alphabet."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(14)
SYMBOLS, WIDTH, LENGTH = 12, 24, 16


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        scores = q @ k.transpose(1, 2) / WIDTH**0.5
        allowed = torch.tril(torch.ones(x.shape[1], x.shape[1]))
        weights = torch.softmax(scores + allowed.log(), dim=-1)
        return x + self.out(weights @ v)


class Writer(nn.Module):
    def __init__(self):
        super().__init__()
        self.symbols = nn.Embedding(SYMBOLS, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.Sequential(Attention(), Attention())
        self.head = nn.Linear(WIDTH, SYMBOLS)

    def forward(self, x):
        return self.head(self.layers(self.symbols(x) + self.places(torch.arange(x.shape[1]))))


text = torch.randint(0, SYMBOLS, (1, 800)).repeat(1, 2)[0].unfold(0, LENGTH + 1, 5)
model = Writer()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(60):
    rows = text[step * 5 : step * 5 + 10]
    scores = model(rows[:, :-1])
    loss = F.cross_entropy(scores.flatten(0, 1), rows[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"loss {loss.item():.4f}")
