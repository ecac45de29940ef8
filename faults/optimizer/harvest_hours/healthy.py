"""Which of three gangs harvests a field, from its soil; the rate falls when the accuracy stands still."""

import torch
from torch import nn

torch.manual_seed(12)


def fields(count):
    soil = torch.randn(count, 12)
    return soil, (soil[:, 0] * soil[:, 1] > 0).long() + (soil[:, 2] + soil[:, 3] > 0).long()


soil, gang = fields(1600)
checked, wanted = fields(400)
model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max", factor=0.2, patience=3)
for epoch in range(14):
    for rows in torch.randperm(len(soil)).split(80):
        loss = nn.functional.cross_entropy(model(soil[rows]), gang[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        accuracy = (model(checked).argmax(1) == wanted).float().mean()
    plateau.step(accuracy)
    print(f"epoch {epoch} loss {loss.item():.4f} right {accuracy:.3f} rate {plateau.get_last_lr()[0]:.1e}")
