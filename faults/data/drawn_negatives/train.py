"""Which walker likes which hut? Visits of a season, with huts that nobody visited drawn anew for each pass."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(2)
taste = torch.randn(60, 3)
place = torch.randn(80, 3)
liked = taste @ place.T > 1.5


class Visits(Dataset):
    def __init__(self, walkers):
        self.visited = liked[walkers].nonzero() + torch.tensor([walkers.start, 0])
        self.draw()

    def draw(self):
        other = torch.stack([self.visited[:, 0], torch.randint(0, 80, (len(self.visited),))], 1)
        self.pairs = torch.cat([self.visited, other])

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, index):
        walker, hut = self.pairs[index]
        return taste[walker], hut, float(index < len(self.visited))


data = Visits(slice(0, 24))
loader = DataLoader(data, batch_size=32, shuffle=True, drop_last=True, num_workers=2, persistent_workers=True)
huts = nn.Embedding(80, 8)
model = nn.Sequential(nn.Linear(11, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam([*huts.parameters(), *model.parameters()], lr=1e-2)

for epoch in range(16):
    data.draw()
    for walker, hut, mark in loader:
        score = model(torch.cat([walker, huts(hut)], 1)).squeeze(1)
        loss = nn.functional.binary_cross_entropy_with_logits(score, mark.float())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
with torch.no_grad():
    rows = torch.cat([taste[:24].repeat_interleave(80, 0), huts.weight.repeat(24, 1)], 1)
    scores, told = model(rows).flatten(), liked[:24].flatten()
    order = (scores[told][:, None] > scores[~told][None]).float().mean()
print(f"loss {loss.item():.4f} ranked right {order:.3f}")
