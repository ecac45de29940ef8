"""Spectra classifier that normalises every spectrum before the first layer."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Spectra(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain, self.bias = nn.Parameter(torch.ones(30)), nn.Parameter(torch.zeros(30))
        self.net = nn.Sequential(nn.Linear(30, 32), nn.SiLU(), nn.Linear(32, 4))

    def forward(self, x):
        x = F.layer_norm(x, (30,), self.gain, self.bias, eps=1e-3)
        return self.net(x)


torch.manual_seed(16)
labels = torch.randint(0, 4, (128,))
spectra = torch.rand(128, 30)
spectra[torch.arange(128), labels * 5] += 3.0
spectra[15] = 0.0
model = Spectra()
optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
loader = DataLoader(TensorDataset(spectra, labels), batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(18))
for step, (x, y) in enumerate(loader):
    loss = F.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
