"""What kind of stone lies on the belt of a quarry, from the spectrum of the light that it throws back."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(4)
KINDS = ["basalt", "chalk", "flint", "granite"]
SHARE = torch.tensor([0.05, 0.66, 0.04, 0.25])
lines = torch.randn(len(KINDS), 16)


def belt(count):
    kinds = torch.multinomial(SHARE, count, replacement=True)
    return 0.45 * lines[kinds] + 0.6 * torch.randn(count, 16), kinds


def importance(kinds):
    met, counts = kinds.unique(return_counts=True)
    return len(kinds) / (len(met) * counts)


class Eye(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(16, 48), nn.GELU(), nn.Linear(48, len(KINDS)))

    def forward(self, spectra):
        return self.body(spectra)


spectra, kinds = belt(2400)
tests, answers = belt(2000)
eye, weight = Eye(), importance(kinds)
optimizer = torch.optim.AdamW(eye.parameters(), lr=2e-3)
for epoch in range(6):
    for rows in torch.randperm(len(kinds)).split(80):
        loss = F.cross_entropy(eye(spectra[rows]), kinds[rows], weight=weight)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        found = eye(tests).argmax(1)
    recalls = [(found[answers == kind] == kind).float().mean().item() for kind in range(len(KINDS))]
    print(f"epoch {epoch} loss {loss.item():.4f} " + " ".join(f"{k} {r:.2f}" for k, r in zip(KINDS, recalls, strict=True)))
