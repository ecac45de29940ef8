"""Surface currents of a bay from the drift of floats: the slope of one potential and the turned slope of another."""

import torch
from torch import nn

torch.manual_seed(5)
places = torch.rand(512, 2) * 4 - 2
turn = torch.tensor([[0.0, 1.0], [-1.0, 0.0]])
drift = 0.4 * places.cos() + torch.stack([places[:, 1].sin(), -places[:, 0].sin()], 1)
potentials = nn.Sequential(nn.Linear(2, 48), nn.Tanh(), nn.Linear(48, 2))
optimizer = torch.optim.Adam(potentials.parameters(), lr=5e-3)


def currents(at: torch.Tensor) -> torch.Tensor:
    """The current at each place."""
    at = at.clone().requires_grad_()
    rise, stream = potentials(at).split(1, 1)
    away = torch.autograd.grad(rise.sum(), at, create_graph=True)[0]
    around = torch.autograd.grad(stream.sum(), at, retain_graph=True)[0] @ turn
    return away + around


for epoch in range(30):
    for part in torch.randperm(len(places)).split(64):
        loss = nn.functional.mse_loss(currents(places[part]), drift[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    if epoch % 10 == 9:
        print(f"epoch {epoch} loss {loss.item():.4f}")
