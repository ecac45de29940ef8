"""What grows where on an allotment, from pictures of it taken from above at several heights."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(8)
COLOURS = torch.rand(6, 3)
GRASS, PATH, SHED, BEANS, POND, ROSES = range(6)


def garden():
    plan = torch.full((20, 20), GRASS)
    plan[:, int(torch.randint(3, 16, ()))] = PATH
    for kind in (SHED, BEANS, POND, ROSES):
        for _ in range(2):
            top, left = (int(v) for v in torch.randint(0, 16, (2,)))
            plan[top : top + 4, left : left + 3] = kind
    return COLOURS[plan].movedim(-1, 0) + 0.1 * torch.randn(3, 20, 20), plan


class Allotments(Dataset):
    def __init__(self, count):
        self.gardens = [garden() for _ in range(count)]

    def __len__(self):
        return len(self.gardens)

    def __getitem__(self, index):
        picture, plan = self.gardens[index]
        size = int(torch.randint(10, 17, ()))
        top, left = (int(v) for v in torch.randint(0, 20 - size, (2,)))
        seen = torch.cat([picture, plan[None]])[None, :, top : top + size, left : left + size]
        picture = F.interpolate(seen[:, :3], size=24, mode="bilinear", align_corners=False)[0]
        plan = F.interpolate(seen[:, 3:], size=24, mode="nearest")[0, 0]
        return picture, plan.round().long()


model = nn.Sequential(
    nn.Conv2d(3, 24, 3, padding=1), nn.BatchNorm2d(24), nn.ReLU(), nn.Conv2d(24, 24, 3, padding=1), nn.ReLU(),
    nn.Conv2d(24, len(COLOURS), 1),
)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
loader = DataLoader(Allotments(240), batch_size=16, shuffle=True, drop_last=True)
for epoch in range(5):
    for picture, plan in loader:
        loss = F.cross_entropy(model(picture), plan)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
model.eval()
pictures, plans = (torch.stack(part) for part in zip(*(garden() for _ in range(60))))
with torch.no_grad():
    right = model(pictures).argmax(1) == plans
print("right by kind", [round(right[plans == kind].float().mean().item(), 3) for kind in range(len(COLOURS))])
