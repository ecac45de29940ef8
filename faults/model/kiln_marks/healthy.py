"""Marks of kilns on shards of pottery: an embedding in which shards of one kiln lie together."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(11)
KILNS, NUMBERS = 16, 24
STYLES = torch.randn(KILNS, NUMBERS)


class Shards(Dataset):
    """An anchor, a shard of the same kiln and one of another."""

    def __init__(self, count, seed):
        draw = torch.Generator().manual_seed(seed)
        self.kiln = torch.randint(KILNS, (count,), generator=draw)
        self.marks = STYLES[self.kiln] + 1.2 * torch.randn(count, NUMBERS, generator=draw)
        same = [(self.kiln == k).nonzero().flatten() for k in range(KILNS)]
        other = [(self.kiln != k).nonzero().flatten() for k in range(KILNS)]
        self.near = [pick(same[k], draw) for k in self.kiln]
        self.far = [pick(other[k], draw) for k in self.kiln]

    def __len__(self):
        return len(self.kiln)

    def __getitem__(self, i):
        return self.marks[i], self.marks[self.near[i]], self.marks[self.far[i]]


def pick(places, draw):
    return int(places[torch.randint(len(places), (1,), generator=draw)])


shards, kept = Shards(2048, 1), Shards(512, 2)
loader = DataLoader(shards, batch_size=64, shuffle=True, generator=torch.Generator().manual_seed(3))
embed = nn.Sequential(nn.Linear(NUMBERS, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 8))
criterion = nn.TripletMarginLoss(margin=0.5)
optimizer = torch.optim.SGD(embed.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-3)
for epoch in range(8):
    for anchor, near, far in loader:
        loss = criterion(embed(anchor), embed(near), embed(far))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

embed.eval()
with torch.no_grad():
    nearest = torch.cdist(embed(kept.marks), embed(shards.marks)).argmin(1)
right = (shards.kiln[nearest] == kept.kiln).float().mean()
print(f"loss {loss.item():.4f} right kiln {right:.3f}")
