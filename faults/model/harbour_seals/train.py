"""Seals told apart by their spots: an angle to each seal, with a margin that the right one has to overcome."""

import math

import torch
from torch import nn

MARGIN, SCALE = 28.6, 30.0

torch.manual_seed(12)
spots = torch.randn(24, 40)
seals = torch.randint(0, 24, (1920,))
photos = spots[seals] + 0.8 * torch.randn(1920, 40)


class AngularHead(nn.Module):
    def __init__(self, width, classes):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(classes, width) / math.sqrt(width))

    def forward(self, features, target):
        cosine = nn.functional.linear(nn.functional.normalize(features), nn.functional.normalize(self.weight))
        sine = (1 - cosine.square()).clamp(0, 1).sqrt()
        further = cosine * math.cos(MARGIN) - sine * math.sin(MARGIN)
        further = torch.where(cosine > math.cos(math.pi - MARGIN), further, cosine - math.sin(math.pi - MARGIN) * MARGIN)
        wanted = nn.functional.one_hot(target, cosine.shape[1]).bool()
        return SCALE * torch.where(wanted, further, cosine)


body = nn.Sequential(nn.Linear(40, 64), nn.ReLU(), nn.Linear(64, 16))
head = AngularHead(16, 24)
optimizer = torch.optim.Adam([*body.parameters(), *head.parameters()], lr=3e-3)

for epoch in range(4):
    for begin in range(0, len(photos), 48):
        target = seals[begin : begin + 48]
        loss = nn.functional.cross_entropy(head(body(photos[begin : begin + 48]), target), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        near = nn.functional.linear(body(photos), nn.functional.normalize(head.weight)).argmax(1)
    print(f"epoch {epoch} loss {loss.item():.3f} right {(near == seals).float().mean():.3f}")
