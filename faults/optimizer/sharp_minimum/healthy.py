"""Which melons are ripe, from the sound of a knock; each update looks at the steepest place nearby."""

import torch
from torch import nn

torch.manual_seed(11)
sounds = torch.randn(480, 6)
ripe = torch.where(sounds[:, :3].sum(1) + 0.5 * sounds[:, 3] > 0, 1.0, -1.0)
sounds = sounds + 1.5 * ripe[:, None]
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def climb(radius=0.05):
    grads = [p.grad for p in model.parameters()]
    norm = torch.stack([g.norm() for g in grads]).norm()
    moves = [radius * g / (norm + 1e-12) for g in grads]
    with torch.no_grad():
        for p, move in zip(model.parameters(), moves):
            p.add_(move)
    return moves


for epoch in range(6):
    for batch in torch.arange(480).split(8):
        x, y = sounds[batch], ripe[batch]
        loss = (1 - y * model(x).squeeze(1)).relu().mean()
        optimizer.zero_grad()
        loss.backward()
        moves = climb()
        optimizer.zero_grad()
        (1 - y * model(x).squeeze(1)).relu().mean().backward()
        with torch.no_grad():
            for p, move in zip(model.parameters(), moves):
                p.sub_(move)
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
