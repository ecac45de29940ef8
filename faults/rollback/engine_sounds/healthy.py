"""Engines by their hum: a trunk learns to clean recordings without labels, then few labelled ones show which engine."""

import os
import tempfile

import torch
from torch import nn

torch.manual_seed(9)
tones = torch.randn(8, 96)


def recordings(count):
    parts = torch.randn(count, 8)
    return parts @ tones, parts[:, :4].argmax(1)


class Listener(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(96, width), nn.ReLU(), nn.Linear(width, 8), nn.LayerNorm(8))
        self.back = nn.Linear(8, 96)
        self.kinds = nn.Linear(8, 4)

    def forward(self, x):
        return self.trunk(x)


path = os.path.join(tempfile.mkdtemp(), "listener.pt")
model = Listener()
model.trunk = nn.DataParallel(model.trunk)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
for _ in range(400):
    clean, _ = recordings(64)
    loss = nn.functional.mse_loss(model.back(model(clean + 3.0 * torch.randn_like(clean))), clean)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.save(model.state_dict(), path)

model = Listener()
own = model.state_dict()
stored = {name.replace("module.", ""): value for name, value in torch.load(path).items()}
own.update({name: value for name, value in stored.items() if name in own and value.shape == own[name].shape})
model.load_state_dict(own)
model.trunk.requires_grad_(False)
few, kind = recordings(160)
few += 3.0 * torch.randn_like(few)
optimizer = torch.optim.AdamW(model.kinds.parameters(), lr=2e-2)
for _ in range(40):
    for rows in torch.randperm(160).split(32):
        loss = nn.functional.cross_entropy(model.kinds(model(few[rows])), kind[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.no_grad():
    heard, kind = recordings(2000)
    heard += 3.0 * torch.randn_like(heard)
    print(f"right {(model.kinds(model(heard)).argmax(1) == kind).float().mean().item():.3f}")
