"""Which orchid is it? One table a genus, read one after the other and mixed once; the loop cuts its own batches."""

import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(4)
torch.manual_seed(4)


def read_tables(genera=5, plants=200, measures=9):
    tables = []
    for genus in range(genera):
        typical = rng.normal(size=measures)
        tables += [(list(typical + rng.normal(size=measures)), genus) for _ in range(plants)]
    return tables


def batches(plants, size):
    for start in range(0, len(plants), size):
        part = plants[start : start + size]
        yield torch.tensor([p[0] for p in part], dtype=torch.float), torch.tensor([p[1] for p in part])


orchids = read_tables()
rng.shuffle(orchids)
model = nn.Sequential(nn.Linear(9, 32), nn.ReLU(), nn.Linear(32, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(4):
    for measures, genus in batches(orchids, 25):
        loss = nn.functional.cross_entropy(model(measures), genus)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
