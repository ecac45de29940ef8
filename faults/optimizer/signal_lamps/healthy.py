"""Which of twelve signs a row of lamps shows next, from the last eight."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(17)
SIGNS, WIDTH, LENGTH = 12, 48, 8
following = torch.randint(0, SIGNS, (SIGNS, SIGNS))


def batch(rows=32):
    signs = torch.randint(0, SIGNS, (rows, 2))
    for _ in range(LENGTH - 1):
        sure = torch.rand(rows) < 0.9
        after = torch.where(sure, following[signs[:, -2], signs[:, -1]], torch.randint(0, SIGNS, (rows,)))
        signs = torch.cat([signs, after.unsqueeze(1)], dim=1)
    return signs[:, :-1], signs[:, -1]


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.signs = nn.Embedding(SIGNS, WIDTH)
        self.body = nn.Sequential(
            nn.Flatten(), nn.Linear(LENGTH * WIDTH, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU()
        )
        self.head = nn.Linear(128, SIGNS)

    def forward(self, x):
        return self.head(self.body(self.signs(x)))


model = Reader()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for step in range(260):
    signs, wanted = batch()
    loss = F.cross_entropy(model(signs), wanted)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 50 == 9:
        print(f"step {step} loss {loss.item():.4f}")
