"""Will the heath burn today? Eight readings of weather and ground; the mean of the networks of the last epochs decides."""

import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(8)
spread = torch.tensor([4.0, 1, 2, 6, 1, 3, 2, 1])
readings = torch.randn(1200, 8) * spread + torch.tensor([12.0, 0, 3, 20, 1, 5, 2, 1])
burns = ((readings[:, 0] - 12) / 4 - (readings[:, 3] - 20) / 6 + (readings[:, 5] - 5) / 3 > 0.3).long()
loader = DataLoader(TensorDataset(readings[:960], burns[:960]), batch_size=48, shuffle=True)
heath = nn.Sequential(
    nn.Linear(8, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 2)
)
optimizer = torch.optim.SGD(heath.parameters(), lr=0.2, momentum=0.9)


def right(model):
    model.eval()
    with torch.no_grad():
        return (model(readings[960:]).argmax(1) == burns[960:]).float().mean().item()


for epoch in range(9):
    heath.train()
    for x, y in loader:
        loss = nn.functional.cross_entropy(heath(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch == 1:
        mean, networks = copy.deepcopy(heath), 1
    elif epoch > 1:
        networks += 1
        with torch.no_grad():
            for average, weight in zip(mean.parameters(), heath.parameters()):
                average.add_((weight - average) / networks)
    print(f"epoch {epoch} loss {loss.item():.3f}")

torch.optim.swa_utils.update_bn(loader, mean)
print(f"last {right(heath):.3f} mean of {networks} {right(mean):.3f}")
