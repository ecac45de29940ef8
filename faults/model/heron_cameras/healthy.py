"""Is a heron on the picture of a camera at the weir? One picture in twelve has one."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(11)
shape = torch.randn(24)


def pictures(count):
    heron = (torch.rand(count) < 0.08).float()
    return heron[:, None] * shape * 0.42 + torch.randn(count, 24), heron


def balance(heron):
    there = heron.sum()
    missing = len(heron) - there
    return missing / there


seen, heron = pictures(6000)
tests, answers = pictures(3000)
model = nn.Sequential(nn.Linear(24, 32), nn.GELU(), nn.Linear(32, 1))
weight = balance(heron)
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
for epoch in range(5):
    for rows in torch.randperm(len(heron)).split(100):
        loss = F.binary_cross_entropy_with_logits(model(seen[rows])[:, 0], heron[rows], pos_weight=weight)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        found = model(tests)[:, 0] > 0
    recall = found[answers == 1].float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} recall {recall:.2f} of {int(answers.sum())} herons")
