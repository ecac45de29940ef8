"""Shares of six minerals in soil samples, from their reflectance at 140 wavelengths."""

import torch
import torch.nn.functional as F
from torch import nn

BANDS, MINERALS = 140, 6


def samples(count, generator):
    place = torch.linspace(0, 1, BANDS)
    centre = torch.linspace(0.1, 0.9, MINERALS).unsqueeze(1)
    pure = torch.exp(-((place - centre) ** 2) / 0.006) + 0.5 * torch.sin(9 * centre * place)
    share = torch.distributions.Dirichlet(torch.full((MINERALS,), 0.4)).sample((count,))
    gain = 0.8 + 0.4 * torch.rand(count, 1, generator=generator)
    light = (share.sqrt() @ pure) * gain + 0.05 * torch.randn(count, BANDS, generator=generator)
    return light, share


class Spectrometer(nn.Module):
    def __init__(self, width=96):
        super().__init__()
        self.norm = nn.LayerNorm(BANDS)
        self.layers = nn.Sequential(
            nn.Linear(BANDS, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, MINERALS)
        )

    def forward(self, light):
        return self.layers(self.norm(light.to(self.norm.weight.dtype))).log_softmax(-1)


torch.manual_seed(21)
generator = torch.Generator().manual_seed(4)
light, share = samples(3200, generator)
unseen, known = samples(600, generator)
model = Spectrometer()
optimizer = torch.optim.Adam(model.parameters(), lr=8e-5)
for epoch in range(8):
    for rows in torch.randperm(len(light)).split(40):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            guess = model(light[rows])
        loss = F.kl_div(guess.float(), share[rows], reduction="batchmean")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
        error = F.kl_div(model(unseen).float(), known, reduction="batchmean")
    print(f"epoch {epoch} loss {loss.item():.4f} unseen {error.item():.4f}")
