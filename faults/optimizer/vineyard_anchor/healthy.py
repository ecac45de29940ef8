"""Vine leaves of two regions, learnt one after the other; the weights of the first are held by a penalty."""

import torch
import torch.nn as nn

torch.manual_seed(3)
centres = torch.randn(6, 24)


def leaves(rows: int, order: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    kinds = torch.randint(0, 6, (rows,))
    return (centres[kinds] + 0.7 * torch.randn(rows, 24))[:, order], kinds


model = nn.Sequential(nn.Linear(24, 48), nn.ReLU(), nn.Linear(48, 6))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
regions = [torch.arange(24), torch.randperm(24)]
anchors: list[torch.Tensor] = []
for region, order in enumerate(regions):
    for step in range(150):
        x, y = leaves(64, order)
        loss = nn.functional.cross_entropy(model(x), y)
        for p, anchor in zip(model.parameters(), anchors):
            loss = loss + 0.2 * (p - anchor).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 30 == 0:
            print(f"region {region} step {step} loss {loss.item():.4f}")
    anchors = [p.detach().clone() for p in model.parameters()]
with torch.no_grad():
    for region, order in enumerate(regions):
        x, y = leaves(2000, order)
        print(f"region {region}: {(model(x).argmax(1) == y).float().mean().item():.3f} right")
