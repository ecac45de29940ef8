"""Which bat is calling, from recordings of its echo sounder: log spectra, normalised by the first layer."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(36)
WINDOW = torch.hann_window(64)


class Calls(Dataset):
    def __init__(self, waves, kinds):
        self.waves, self.kinds = waves, kinds

    def __len__(self):
        return len(self.waves)

    def __getitem__(self, index):
        power = torch.stft(self.waves[index], 64, 32, window=WINDOW, return_complex=True).abs().square()
        return power.clamp_min(1e-6).log(), self.kinds[index]


kinds = torch.randint(0, 3, (480,))
time = torch.arange(512) / 512
waves = torch.sin(2 * torch.pi * (20 + 30 * kinds).unsqueeze(1) * time) + 0.3 * torch.randn(480, 512)
waves[299] = 0
loader = DataLoader(Calls(waves, kinds), batch_size=16)
model = nn.Sequential(nn.BatchNorm1d(33), nn.Flatten(), nn.Linear(33 * 17, 32), nn.ReLU(), nn.Linear(32, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(2):
    for x, y in loader:
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
