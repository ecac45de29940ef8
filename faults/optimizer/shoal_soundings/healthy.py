"""Value of a pilot boat between shoals that shift: temporal differences against a slow network."""

import copy

import torch
from torch import nn


KEEP = 0.98  # of the slow network in each update


class Shoals:
    """A walk over 12 soundings; the ship is met at the last."""

    def __init__(self, seed):
        self.g = torch.Generator().manual_seed(seed)

    def draw(self, n):
        at = torch.randint(0, 12, (n,), generator=self.g)
        to = (at + 2 * torch.randint(0, 2, (n,), generator=self.g) - 1).clamp(0, 11)
        return torch.eye(12)[at], torch.eye(12)[to], (to == 11).float()


def follow(into, of, keep=KEEP):
    with torch.no_grad():
        for a, b in zip(into.parameters(), of.parameters()):
            a.copy_(keep * a + (1 - keep) * b)


def main():
    torch.manual_seed(0)
    shoals = Shoals(1)
    value = nn.Sequential(nn.Linear(12, 32), nn.Tanh(), nn.Linear(32, 1))
    slow = copy.deepcopy(value).requires_grad_(False)
    optimizer = torch.optim.Adam(value.parameters(), lr=3e-3)
    for step in range(600):
        at, to, reward = shoals.draw(64)
        with torch.no_grad():
            wanted = reward + 0.9 * slow(to).squeeze(1)
        loss = nn.functional.mse_loss(value(at).squeeze(1), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        follow(slow, value)
        if step % 100 == 99:
            print(f"step {step + 1} loss {loss.item():.4f}")
    worth = value(torch.eye(12)).squeeze(1)
    print(f"worth of the first place {worth[0]:.3f}, of the last {worth[-1]:.3f}")


if __name__ == "__main__":
    main()
