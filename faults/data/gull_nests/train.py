"""Which of three kinds of gull nests on a ledge: ten ledges on each photo of a cliff, most of them empty."""

import torch
from torch import nn

torch.manual_seed(2)
LEDGES, KINDS = 10, 3
marks = torch.randn(KINDS + 1, 12) * 1.2


def cliff():
    nests = torch.randperm(LEDGES)[: int(torch.randint(1, 5, (1,)))]
    kinds = torch.randint(1, KINDS + 1, (len(nests),))
    photo = torch.randn(LEDGES, 12) * 0.7
    photo[nests] += marks[kinds]
    return photo, nests, kinds


class Ledges(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(12, 48), nn.ReLU(), nn.Linear(48, classes + 1))

    def forward(self, photos):
        return self.net(photos)


def nest_loss(scores, cliffs, classes):
    wanted = torch.full(scores.shape[:2], classes)
    photo = torch.cat([torch.full_like(nests, row) for row, (_, nests, _) in enumerate(cliffs)])
    ledge = torch.cat([nests for _, nests, _ in cliffs])
    wanted[photo, ledge] = torch.cat([kinds for _, _, kinds in cliffs])
    return nn.functional.cross_entropy(scores.flatten(0, 1), wanted.flatten())


classes = KINDS
cliffs = [cliff() for _ in range(640)]
model = Ledges(classes)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(6):
    for rows in torch.randperm(512).split(32):
        some = [cliffs[r] for r in rows]
        loss = nest_loss(model(torch.stack([photo for photo, _, _ in some])), some, classes)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
with torch.no_grad():
    found = [(model(photo)[nests, :classes].argmax(1) == kinds).float() for photo, nests, kinds in cliffs[512:]]
    empty = [(model(photo)[nests].argmax(1) != classes).float() for photo, nests, kinds in cliffs[512:]]
    both = [f * e for f, e in zip(found, empty, strict=True)]
    print(f"nests of the right kind {torch.cat(both).mean():.3f}")
