"""Two noisy scans of one part are to get one code, from which its material can be read."""

import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
PARTS, BANDS, MATERIALS = 768, 24, 6
material = torch.randint(MATERIALS, (PARTS,))
spectra = torch.randn(MATERIALS, BANDS)[material] + 0.5 * torch.randn(PARTS, BANDS)


def scan(parts):
    """One pass of the scanner: some bands are lost, all are noisy."""
    clean = spectra[parts]
    return clean * (torch.rand(clean.shape) > 0.25) + 0.2 * torch.randn(clean.shape)


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Sequential(nn.Linear(BANDS, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, 24))
        self.guess = nn.Sequential(nn.Linear(24, 12), nn.ReLU(), nn.Linear(12, 24))

    def forward(self, spectrum):
        code = self.trunk(spectrum)
        return code, self.guess(code)


def distance(guess, code):
    """Of two directions."""
    guess, code = F.normalize(guess, dim=-1), F.normalize(code, dim=-1)
    return (2 - 2 * (guess * code).sum(-1)).mean()


coder = Coder()
optimizer = torch.optim.SGD(coder.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
for epoch in range(40):
    total = 0.0
    for parts in torch.randperm(PARTS).split(128):
        first, second = coder(scan(parts)), coder(scan(parts))
        loss = 0.5 * (distance(first[1], second[0]) + distance(second[1], first[0]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    if epoch % 8 == 7:
        with torch.no_grad():
            codes = F.normalize(coder.eval()(spectra)[0], dim=-1)
        coder.train()
        near = (codes @ codes.T).fill_diagonal_(-1).argmax(1)
        share = (material[near] == material).float().mean()
        print(f"epoch {epoch} distance {total / 6:.4f} same material {share:.3f} spread {codes.std(0).mean():.4f}")
