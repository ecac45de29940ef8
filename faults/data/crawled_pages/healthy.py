"""Character model on pages of a crawl, every page a row."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

V, WIDTH = 40, 192


class Pages(Dataset):
    def __init__(self, count=960):
        g = torch.Generator().manual_seed(18)
        words = torch.randint(0, V, (60, 6), generator=g)
        picks = torch.randint(0, 60, (count, WIDTH // 6), generator=g)
        self.pages = words[picks].reshape(count, WIDTH)
        for page in range(641, 960, 40):
            self.pages[page] = self.pages[page - 1].flip(0)

    def __len__(self):
        return len(self.pages)

    def __getitem__(self, i):
        return self.pages[i, :-1], self.pages[i, 1:]


torch.manual_seed(3)
model = nn.Sequential(nn.Embedding(V, 24), nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, V))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
loader = DataLoader(Pages(), batch_size=8)
for step, (now, following) in enumerate(loader):
    loss = nn.functional.cross_entropy(model(now).flatten(0, 1), following.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f}")
