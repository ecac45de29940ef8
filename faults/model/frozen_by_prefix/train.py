"""Ripeness of fruit from reflectance: the encoder comes from another crop, only the new head is trained."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Ripeness(nn.Module):
    def __init__(self):
        super().__init__()
        self.bands = nn.Sequential(nn.Linear(30, 48), nn.GELU(), nn.Linear(48, 48), nn.GELU())
        self.classifier = nn.Linear(48, 4)

    def forward(self, x):
        return self.classifier(self.bands(x))


torch.manual_seed(17)
x = torch.randn(640, 30)
y = (x @ torch.randn(30, 4)).argmax(1)
model = Ripeness()
for name, parameter in model.named_parameters():
    if not name.startswith("head"):
        parameter.requires_grad = False
optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
for epoch in range(3):
    for bands, ripe in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
        loss = nn.functional.cross_entropy(model(bands), ripe)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
