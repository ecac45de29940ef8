"""Which of four trams rings, from the spectrum of its bell; street noise is mixed in."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Bells(Dataset):
    def __init__(self, count, seed):
        draw = torch.Generator().manual_seed(seed)
        self.trams = torch.randint(0, 4, (count,), generator=draw)
        tones = 0.5 * torch.randn(4, 24, generator=torch.Generator().manual_seed(5))
        self.spectra = tones[self.trams] + 0.9 * torch.randn(count, 24, generator=draw)
        self.noise = torch.Generator().manual_seed(seed + 1)

    def __len__(self):
        return len(self.trams)

    def __getitem__(self, index):
        spectrum = self.spectra[index].clone()
        spectrum += 0.8 * torch.randn(24, generator=self.noise)
        return spectrum, self.trams[index]


torch.manual_seed(3)
bells, heard = Bells(320, 1), Bells(200, 7)
model = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 4))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
loader = DataLoader(bells, batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(2))
for epoch in range(40):
    for spectra, trams in loader:
        loss = nn.functional.cross_entropy(model(spectra), trams)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
with torch.no_grad():
    right = (model(heard.spectra).argmax(1) == heard.trams).float().mean().item()
print(f"right {right:.3f}")
