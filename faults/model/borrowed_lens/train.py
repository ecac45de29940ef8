"""Stars are sorted by their spectra; the bright ones were taken with one telescope, the faint ones with another."""

import torch
from torch import nn

torch.manual_seed(5)
LINES = torch.randn(3, 24)
COATING = 1.5 * torch.randn(24)


class Against(torch.autograd.Function):
    @staticmethod
    def forward(ctx, spectrum, strength):
        ctx.strength = strength
        return spectrum.view_as(spectrum)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


def stars(count, swap):
    kind = torch.randint(3, (count,))
    north = torch.rand(count) < torch.where(kind == 0, swap, 1 - swap)
    light = 0.35 * LINES[kind] + north[:, None] * COATING + 0.8 * torch.randn(count, 24)
    return light, kind, north.float()


body = nn.Sequential(nn.Linear(24, 32), nn.ReLU(), nn.Linear(32, 16))
sorter = nn.Sequential(nn.ReLU(), nn.Linear(16, 3))
site = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1))
parts = nn.ModuleList([body, sorter, site])
optimizer = torch.optim.Adam(parts.parameters(), lr=5e-4, weight_decay=1e-4)
light, kind, north = stars(4096, 0.95)
nights, size = 12, 64
total = nights * (len(light) // size)

step = 0
for night in range(nights):
    for rows in torch.randperm(len(light)).split(size):
        seen = body(light[rows])
        strength = 3 * (step // total)
        sorted_loss = nn.functional.cross_entropy(sorter(seen), kind[rows])
        site_loss = nn.functional.binary_cross_entropy_with_logits(
            site(Against.apply(seen, strength)).squeeze(1), north[rows]
        )
        optimizer.zero_grad()
        (sorted_loss + site_loss).backward()
        optimizer.step()
        step += 1

with torch.no_grad():
    other, truth, _ = stars(2000, 0.05)
    right = (sorter(body(other)).argmax(1) == truth).float().mean()
print(f"kinds {sorted_loss.item():.3f} site {site_loss.item():.3f} right with the telescopes exchanged {right:.3f}")
