"""How deep a loaded barge lies, from its load plan; no decay for the biases."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(11)
plans = torch.randn(800, 12)
draught = (plans[:, :4].sum(1) + plans[:, 4] * plans[:, 5]).unsqueeze(1)
model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
weights = [p for p in model.parameters() if p.dim() > 1]
biases = [p for p in model.parameters() if p.dim() <= 1]
groups = [
    {"params": weights, "lr": 0.0},
    {"params": biases, "weight_decay": 0.0},
]
optimizer = torch.optim.AdamW(groups, lr=2e-3)

for epoch in range(8):
    total = 0.0
    for x, y in DataLoader(TensorDataset(plans, draught), batch_size=32, shuffle=True):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 25:.4f}")
