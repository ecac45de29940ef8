"""Sorts short sequences of digits with a small attention network."""

import torch
from torch import nn
from torch.nn import functional as F


class Attention(nn.Module):
    def __init__(self, width, heads, drop=0.2):
        super().__init__()
        self.heads, self.drop = heads, drop
        self.mix = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        rows, length, width = x.shape
        query, key, value = self.mix(x).view(rows, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, None, self.drop if self.training else 0.0)
        return self.out(mixed.transpose(1, 2).reshape(rows, length, width))


class Sorter(nn.Module):
    def __init__(self, digits=10, length=6, width=32):
        super().__init__()
        self.embed = nn.Embedding(digits, width)
        self.place = nn.Parameter(0.1 * torch.randn(length, width))
        self.attention = Attention(width, 4)
        self.norm = nn.LayerNorm(width)
        self.feed = nn.Sequential(nn.Linear(width, 64), nn.ReLU(), nn.Linear(64, width))
        self.head = nn.Linear(width, digits)

    def forward(self, tokens):
        x = self.embed(tokens) + self.place
        x = x + self.attention(self.norm(x))
        return self.head(x + self.feed(x))


def digits(count, seed):
    tokens = torch.randint(0, 10, (count, 6), generator=torch.Generator().manual_seed(seed))
    return tokens, tokens.sort(1).values


def main():
    torch.manual_seed(0)
    tokens, ordered = digits(1024, 1)
    held, answers = digits(256, 2)
    model = Sorter()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(4):
        model.train()
        for rows in torch.randperm(1024).split(32):
            loss = F.cross_entropy(model(tokens[rows]).flatten(0, 1), ordered[rows].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        model.eval()
        with torch.no_grad():
            right = (model(held).argmax(-1) == answers).float().mean()
        print(f"epoch {epoch} loss {loss.item():.4f} held out {right:.3f}")


if __name__ == "__main__":
    main()
