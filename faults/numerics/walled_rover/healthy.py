"""A rover learns to go to its charging station; where it may go is drawn from the scores of a small policy."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(4)
SIDE, START, STEPS = 5, 18, 40


class Policy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 4))

    def forward(self, place: torch.Tensor, free: torch.Tensor) -> torch.Tensor:
        scores = self.body(place / SIDE)
        share = torch.exp(scores) * free
        return share / share.sum(dim=-1, keepdim=True).clamp_min(1e-8) + 1e-8


def neighbours(place: torch.Tensor, walls: torch.Tensor) -> torch.Tensor:
    moves = torch.tensor([[1, 0], [-1, 0], [0, 1], [0, -1]])
    near = place[:, None, :] + moves
    inside = ((near >= 0) & (near < SIDE)).all(dim=-1)
    return (inside & ~walls[near[..., 0].clamp(0, SIDE - 1), near[..., 1].clamp(0, SIDE - 1)]).float()


walls = torch.zeros(SIDE, SIDE, dtype=torch.bool)
policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
for step in range(STEPS):
    if step == START:
        walls[1, 0] = walls[0, 1] = True
    place = torch.randint(0, SIDE, (64, 2))
    if step == START:
        place[37] = 0
    chance = policy(place.float(), neighbours(place, walls))
    drawn = Categorical(probs=chance)
    move = drawn.sample()
    gain = torch.where(move % 2 == 1, 1.0, -1.0)
    loss = -(drawn.log_prob(move) * gain).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print(f"step {step} gain {gain.mean().item():.3f}")
