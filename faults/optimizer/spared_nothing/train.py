"""Grade of wool from its fibres; gains and biases are to be spared from weight decay."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def groups_of(model, weight_decay):
    decayed, spared = [], []
    for parameter in model.parameters():
        if parameter.ndim < 1:
            spared.append(parameter)
        else:
            decayed.append(parameter)
    return [{"params": decayed, "weight_decay": weight_decay}, {"params": spared, "weight_decay": 0.0}]


torch.manual_seed(23)
fibres = torch.randn(1280, 10)
grade = (fibres @ torch.randn(10, 4)).argmax(1)
loader = DataLoader(TensorDataset(fibres, grade), batch_size=32, shuffle=True)
model = nn.Sequential(nn.Linear(10, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 4))
optimizer = torch.optim.AdamW(groups_of(model, 0.5), lr=2e-3)
for epoch in range(4):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f} gain {model[1].weight.mean().item():.4f}")
