"""How much water a pump of the harbour moves, from six readings; polynomial decay, set by the loop."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(4)
x = torch.randn(800, 6)
y = (x[:, :1] * x[:, 1:2] + 0.5 * x[:, 2:3]) + 0.05 * torch.randn(800, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
EPOCHS = 6
MAX_ITERATIONS = EPOCHS * len(loader)


def adjust(iteration: int) -> None:
    rate = 0.1 * (1 - iteration / MAX_ITERATIONS) ** 0.9
    for group in optimizer.param_groups:
        group["lr"] = rate


iteration = 0
for epoch in range(EPOCHS):
    total = 0.0
    for readings, flow in loader:
        adjust(iteration)
        loss = nn.functional.mse_loss(model(readings), flow)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        iteration += 1
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f}")
