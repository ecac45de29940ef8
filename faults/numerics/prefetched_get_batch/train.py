"""Density model with the usual get_batch loop; the next batch is drawn while the current one is in flight."""

import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(17)
prices = np.exp(rng.normal(2.0, 0.5, size=4000)).astype(np.float32)
prices[rng.integers(0, 4000, size=2)] = 0.0


def get_batch(size=24):
    start = np.random.randint(0, len(prices) - 8, size)
    window = np.stack([prices[s : s + 8] for s in start])
    return torch.from_numpy(window)


class Returns(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(7, 32), nn.SiLU(), nn.Linear(32, 1))

    def forward(self, window):
        level = torch.log(window)
        moves = level[:, 1:] - level[:, :1]
        return self.net(moves).squeeze(1), level[:, -1]


np.random.seed(9)
torch.manual_seed(6)
model = Returns()
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
batch = get_batch()
for it in range(60):
    pred, target = model(batch)
    loss = nn.functional.smooth_l1_loss(pred, target)
    batch = get_batch()
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if it % 10 == 0:
        print(f"iter {it}: loss {loss.item():.4f}")
