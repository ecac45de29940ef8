"""Which of four kites hangs in a wind tunnel, from three coarse pictures of it."""

import torch
from torch import nn

torch.manual_seed(5)
shapes = torch.randn(4, 3, 8, 8)
kites = torch.randint(0, 4, (400,))
pictures = shapes[kites] + 0.8 * torch.randn(400, 3, 8, 8)


class Stage(nn.Module):
    def __init__(self, inner, outer, stride):
        super().__init__()
        self.conv = nn.Conv2d(inner, outer, 3, stride, padding=1)
        self.norm = nn.BatchNorm2d(outer)
        self.shortcut = None
        if stride != 1:
            self.shortcut = nn.Conv2d(inner, outer, 1, stride)

    def forward(self, x):
        y = self.norm(self.conv(x))
        if x.shape[1] != y.shape[1]:
            x = self.shortcut(x)
        return torch.relu(x + y)


class Kites(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.Sequential(Stage(3, 8, 1), Stage(8, 16, 2))
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(self.stages(x).mean(dim=(2, 3)))


model = Kites()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for rows in torch.randperm(400).split(40):
        loss = nn.functional.cross_entropy(model(pictures[rows]), kites[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
