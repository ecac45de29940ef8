"""Which of two cheeses a visitor of a market prefers, from what was tasted before."""

import torch
from torch import nn

torch.manual_seed(9)
visitors, cheeses = 40, 60
liking = torch.randn(visitors, 6) @ torch.randn(6, cheeses)
seen = torch.randint(visitors, (513,)), torch.randint(cheeses, (513, 4))
better = torch.stack([liking[v, c] for v, c in zip(*seen, strict=True)]).argsort(1, descending=True)
pairs = torch.gather(seen[1], 1, better)[:, [0, 3]]


class Taste(nn.Module):
    def __init__(self, width=12):
        super().__init__()
        self.who = nn.Embedding(visitors, width)
        self.what = nn.Embedding(cheeses, width)
        self.bias = nn.Embedding(cheeses, 1)

    def forward(self, who, what):
        wanted = self.who(who).unsqueeze(2)
        return torch.baddbmm(self.bias(what), self.what(what), wanted).squeeze(2)


taste = Taste()
optimizer = torch.optim.Adam(taste.parameters(), lr=2e-2)

for epoch in range(10):
    total = 0.0
    for rows in torch.randperm(len(pairs)).split(32):
        scores = taste(seen[0][rows], pairs[rows])
        chosen, other = torch.split(scores, 1, dim=1)
        loss = nn.functional.softplus(other - chosen).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 17:.4f}")
