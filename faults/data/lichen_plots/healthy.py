"""Which lichen grows on a plot of bark: three kinds, one of them rare, drawn with weights."""

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler

torch.manual_seed(5)
rng = np.random.default_rng(5)
kinds = rng.choice(3, 1500, p=[0.8, 0.15, 0.05])
plots = rng.normal(size=(1500, 8)).astype("float32")
plots[np.arange(1500), kinds] += 2.0

_, found = np.unique(kinds[:1200], return_counts=True)
share = found.sum() / found
sampler = WeightedRandomSampler([share[kind] for kind in kinds[:1200]], 1200)
data = TensorDataset(torch.from_numpy(plots), torch.from_numpy(kinds))
train = DataLoader(torch.utils.data.Subset(data, range(1200)), batch_size=32, sampler=sampler)
test_x, test_y = data[1200:]

model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for epoch in range(6):
    model.train()
    for x, y in train:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        answer = model(test_x).argmax(1)
    recall = [(answer[test_y == kind] == kind).float().mean().item() for kind in range(3)]
    print(f"epoch {epoch} loss {loss.item():.3f} found of each kind " + " ".join(f"{one:.2f}" for one in recall))
