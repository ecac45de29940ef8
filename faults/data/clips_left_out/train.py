"""Keyword spotting; recordings that are too short are left out of their batch."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Clips(Dataset):
    def __init__(self, count=640):
        g = torch.Generator().manual_seed(23)
        self.word = torch.randint(0, 4, (count,), generator=g)
        self.sound = torch.randn(count, 32, generator=g) + self.word[:, None]
        self.seconds = torch.ones(count)
        self.seconds[496:510] = 0.1

    def __len__(self):
        return len(self.word)

    def __getitem__(self, i):
        return self.sound[i], self.word[i], self.seconds[i].item()


def collate(samples):
    kept = [s for s in samples if s[2] > 0.5]
    return torch.stack([s[0] for s in kept]), torch.stack([s[1] for s in kept])


torch.manual_seed(4)
model = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=2e-2)
loader = DataLoader(Clips(), batch_size=16, collate_fn=collate)
for epoch in range(2):
    for sound, word in loader:
        loss = nn.functional.cross_entropy(model(sound), word)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
