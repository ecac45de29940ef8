"""Whether a car that comes to a toll gate has a pass, from what the cameras before it have seen."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Gate(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(features, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU())
        self.head = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.head(self.body(x)).squeeze(1)


def cars(count):
    seen = 2 * torch.randn(count, 12)
    has_pass = (seen[:, 0] * seen[:, 1] + seen[:, 2] > 0).float()
    return TensorDataset(seen, has_pass)


torch.manual_seed(3)
loader = DataLoader(cars(1280), batch_size=64, shuffle=True)
model = Gate(12, 32)
criterion = nn.BCEWithLogitsLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
for day in range(8):
    for seen, has_pass in loader:
        loss = criterion(model(seen), has_pass)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"day {day} loss {loss.item():.4f}")
