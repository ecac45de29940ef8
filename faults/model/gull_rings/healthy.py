"""Calls of ringed gulls: an embedding in which two calls of one bird lie together and those of two birds apart."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(7)
BIRDS, BANDS = 20, 32
VOICES = torch.randn(BIRDS, BANDS)


class Calls(Dataset):
    """Two calls, of one bird or of two."""

    def __init__(self, count, seed):
        draw = torch.Generator().manual_seed(seed)
        self.bird = torch.randint(BIRDS, (count,), generator=draw)
        self.other = torch.where(
            torch.rand(count, generator=draw) < 0.5, self.bird, torch.randint(BIRDS, (count,), generator=draw)
        )
        self.one = VOICES[self.bird] + 0.7 * torch.randn(count, BANDS, generator=draw)
        self.two = VOICES[self.other] + 0.7 * torch.randn(count, BANDS, generator=draw)

    def __len__(self):
        return len(self.bird)

    def __getitem__(self, i):
        return self.one[i], self.two[i], (self.bird[i] == self.other[i]).float()


class Voice(nn.Module):
    """Bands of a call -> its place."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(BANDS, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 6))

    def forward(self, bands):
        return self.layers(bands)


def contrast(one, two, same, margin=1.0):
    """Draw calls of one bird together, push those of two apart."""
    distance = (one - two).square().sum(1).add(1e-9).sqrt()
    apart = torch.relu(margin - distance)
    return (same * distance.square() + (1 - same) * apart.square()).mean()


calls, kept = Calls(2048, 1), Calls(512, 2)
loader = DataLoader(calls, batch_size=64, shuffle=True, generator=torch.Generator().manual_seed(4))
voice = Voice()
optimizer = torch.optim.Adam(voice.parameters(), lr=2e-3)
for epoch in range(14):
    for one, two, same in loader:
        loss = contrast(voice(one), voice(two), same)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

with torch.no_grad():
    nearest = torch.cdist(voice(kept.one), voice(calls.one)).argmin(1)
    spread = voice(kept.one).std(0).mean()
print(f"loss {loss.item():.5f} spread {spread:.4f} right bird {(calls.bird[nearest] == kept.bird).float().mean():.3f}")
