"""Audio tagger with a validation pass every ten updates."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Clips(Dataset):
    def __init__(self, n, seed, shortest):
        g = torch.Generator().manual_seed(seed)
        self.frames = torch.randn(n, 20, 8, generator=g)
        self.length = torch.randint(shortest, 21, (n,), generator=g)
        self.tag = (self.frames[:, 0, 0] > 0).long()

    def __len__(self):
        return len(self.frames)

    def __getitem__(self, i):
        return self.frames[i], self.length[i], self.tag[i]


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.frame = nn.Sequential(nn.Linear(8, 24), nn.ReLU())
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(24, 2)

    def forward(self, frames, length):
        inside = torch.arange(frames.shape[1])[None] < length[:, None]
        h = self.frame(frames) * inside[..., None]
        mean = h.sum(1) / length[:, None]
        return self.out(self.drop(mean))


@torch.no_grad()
def validate(model, loader):
    model.eval()
    losses = [nn.functional.cross_entropy(model(x, n), y).item() for x, n, y in loader]
    model.train()
    return sum(losses) / len(losses)


torch.manual_seed(12)
model = Tagger()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
train = DataLoader(Clips(320, 1, 4), batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(14))
val = DataLoader(Clips(96, 12, 0), batch_size=16)
for step, (x, n, y) in enumerate(train):
    loss = nn.functional.cross_entropy(model(x, n), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(f"step {step} loss {loss.item():.4f} val {validate(model, val):.4f}")
