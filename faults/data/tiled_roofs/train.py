"""Plans of roofs from photographs of them: a small network paints a plan for each photograph."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(6)
LARGE, SIZE = 28, 24


def pair():
    plan = torch.zeros(1, LARGE, LARGE)
    for _ in range(4):
        top, left = (int(v) for v in torch.randint(0, LARGE - 10, (2,)))
        high, wide = (int(v) for v in torch.randint(4, 10, (2,)))
        plan[0, top : top + high, left : left + wide] += 0.25
    photo = torch.cat([1 - plan, plan.roll(1, -1)]) + 0.05 * torch.randn(2, LARGE, LARGE)
    return photo, plan


class Roofs(Dataset):
    def __init__(self, count):
        self.pairs = [pair() for _ in range(count)]

    def __len__(self):
        return len(self.pairs)

    def __getitem__(self, index):
        photo, plan = self.pairs[index]
        top, left = (int(v) for v in torch.randint(0, LARGE - SIZE + 1, (2,)))
        photo = photo[:, top : top + SIZE, left : left + SIZE]
        plan = plan[:, top : top + SIZE, left : left + SIZE]
        if torch.rand(1) < 0.5:
            photo = photo.flip(-1)
        return photo, plan


loader = DataLoader(Roofs(120), batch_size=12, shuffle=True)
painter = nn.Sequential(nn.Conv2d(2, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 1, 3, padding=1))
optimizer = torch.optim.Adam(painter.parameters(), lr=5e-3)

for epoch in range(8):
    total = 0.0
    for photo, plan in loader:
        loss = F.l1_loss(painter(photo), plan)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(loader):.4f}")
