"""How much a reservoir falls in a week; the weights are averaged and put back at the end of each round."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
weather = torch.randn(330, 7)
fall = (weather[:, :3].sum(1) - 0.7 * weather[:, 3] * weather[:, 4]).unsqueeze(1)
loader = DataLoader(TensorDataset(weather, fall), batch_size=30, shuffle=True)
model = nn.Sequential(nn.Linear(7, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
sums = [torch.zeros_like(p) for p in model.parameters()]
seen = 0


@torch.no_grad()
def put_back():
    for p, total in zip(model.parameters(), sums):
        p.copy_(total / seen)
        total.zero_()


for number, epoch in enumerate(range(6), 1):
    for x, y in loader:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 2 == 0:
            for p, total in zip(model.parameters(), sums):
                total.add_(p.detach())
            seen += 1
    put_back()
    seen = 0
    print(f"epoch {epoch} loss {loss.item():.4f}")
