"""The tide of the next hours from that of the last ones: a small convolution over a gauge's log of a season."""

import numpy as np
import torch
from torch import nn

torch.manual_seed(4)
HOURS = 24
time = np.arange(900)
tide = np.sin(time / 1.98) + 0.4 * np.sin(time / 1.91) + np.random.default_rng(0).normal(0, 0.05, 900)
tide = torch.tensor(tide, dtype=torch.float32)


def draw(number):
    begins = torch.randint(len(tide) - HOURS + 1, (number,))
    past = torch.stack([tide[b : b + HOURS] for b in begins])
    coming = torch.stack([tide[b + 1 : b + 1 + HOURS] for b in begins])
    return past, coming


class Forecast(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv1d(1, width, 5), nn.Tanh(), nn.Conv1d(width, 1, 4))

    def forward(self, past):
        return self.layers(nn.functional.pad(past[:, None], (7, 0)))[:, 0]


model = Forecast()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(300):
    past, coming = draw(16)
    loss = nn.functional.mse_loss(model(past), coming)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step} loss {loss.item():.4f}")
print(f"loss {loss.item():.4f}")
