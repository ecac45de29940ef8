"""Which valley a village speaks like, from how often it uses 40 words and from whom it trades with: one convolution
over the graph of trade."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(5)
VILLAGES, WORDS, VALLEYS = 180, 40, 3


def collected(rng):
    valley = rng.integers(0, VALLEYS, VILLAGES)
    likely = 0.2 + 2.0 * (np.arange(WORDS) % VALLEYS == np.arange(VALLEYS)[:, None])
    counts = rng.poisson(likely[valley]).astype(np.float32)
    counts[61] = 0  # nobody there was asked
    trade = (rng.random((VILLAGES, VILLAGES)) < np.where(valley[:, None] == valley, 0.06, 0.01)).astype(np.float32)
    return counts, np.maximum(trade, trade.T), valley


def shares(table):
    inverse = np.power(np.maximum(table.sum(1), 1.0), -1.0)
    return inverse[:, None] * table


def prepared():
    counts, trade, valley = collected(np.random.default_rng(3))
    words = shares(counts)
    ways = shares(trade + np.eye(VILLAGES, dtype=np.float32))
    return torch.FloatTensor(words), torch.FloatTensor(ways), torch.as_tensor(valley)


class Speech(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.first = nn.Linear(WORDS, width)
        self.second = nn.Linear(width, VALLEYS)

    def forward(self, words, ways):
        return ways @ self.second(torch.relu(ways @ self.first(words)))


words, ways, valley = prepared()
known = torch.arange(0, VILLAGES, 2)
model = Speech()
optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
for epoch in range(60):
    loss = nn.functional.cross_entropy(model(words, ways)[known], valley[known])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if epoch % 20 == 0:
        print(f"epoch {epoch} loss {loss.item():.4f}")
print(f"loss {loss.item():.4f}")
