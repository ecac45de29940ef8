"""Takes the hiss out of recordings of an oboe: short windows of a tone with overtones."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
time = torch.linspace(0, 1, 64)
pitch = 6.28 * (2 + 5 * torch.rand(960, 1))
tones = torch.sin(pitch * time) + 0.5 * torch.sin(2 * pitch * time + 6.28 * torch.rand(960, 1))
windows = DataLoader(TensorDataset(tones[:800, None]), batch_size=32, shuffle=True)
held_out = tones[800:, None]
held_out_hiss = held_out + 0.4 * torch.randn(held_out.shape)
model = nn.Sequential(
    nn.Conv1d(1, 24, 9, padding=4), nn.ReLU(), nn.Conv1d(24, 24, 9, padding=4), nn.ReLU(), nn.Conv1d(24, 1, 9, padding=4)
)
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(6):
    for (tone,) in windows:
        hiss = tone + 0.4 * torch.randn_like(tone)
        cleaned = model(tone)
        loss = nn.functional.mse_loss(cleaned, tone)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        error = nn.functional.mse_loss(model(held_out_hiss), held_out)
    print(f"epoch {epoch} loss {loss.item():.4f} held out {error.item():.4f}")
