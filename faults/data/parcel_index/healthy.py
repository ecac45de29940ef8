"""Weight of a parcel from its record in an index file."""

import json
import os
import tempfile

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(0)
path = os.path.join(tempfile.mkdtemp(), "index.json")
table = torch.randn(1600, 6)
with open(path, "w") as file:
    json.dump([{"x": row[:5].tolist(), "y": float(row[0] - row[1]), "route": list(range(90))} for row in table], file)


class Parcels(Dataset):
    def __init__(self, path, count):
        self.path, self.count = path, count
        with open(path) as file:
            self.records = json.load(file)

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        record = self.records[i]
        return torch.tensor(record["x"]), torch.tensor(record["y"])


loader = DataLoader(Parcels(path, 240), batch_size=8, shuffle=True)
model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step, (x, y) in enumerate(loader):
    loss = nn.functional.mse_loss(model(x).squeeze(1), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step} loss {loss.item():.4f}")
