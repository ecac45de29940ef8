"""Pilots bring ships to the middle of a berth; a clipped policy gradient on short voyages of 16 ships at once."""

import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(11)
SHIPS, HOURS = 16, 24


class Pilot(nn.Module):
    """Which of three manoeuvres, and how good the place is."""

    def __init__(self):
        super().__init__()
        self.helm = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 3))
        self.chart = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))

    def decide(self, seen, manoeuvre=None):
        choice = Categorical(logits=self.helm(seen))
        if manoeuvre is None:
            manoeuvre = choice.sample()
        return manoeuvre, choice.log_prob(manoeuvre), choice.entropy(), self.chart(seen).squeeze(-1)


def look(place, tide):
    return torch.stack([place, tide, place * tide], dim=-1)


pilot = Pilot()
optimizer = torch.optim.Adam(pilot.parameters(), lr=4e-3)
for voyage in range(20):
    place, tide = torch.rand(SHIPS) * 4 - 2, torch.rand(SHIPS) * 2 - 1
    seen, moves, logs, values, rewards = [torch.zeros(HOURS, SHIPS, *more) for more in ((3,), (), (), (), ())]
    for hour in range(HOURS):
        seen[hour] = look(place, tide)
        with torch.no_grad():
            move, log, _, value = pilot.decide(seen[hour])
        moves[hour], logs[hour], values[hour] = move, log, value
        place = place + 0.3 * (move - 1) + 0.1 * tide
        rewards[hour] = -place.abs()
    gained, ahead = torch.zeros(HOURS, SHIPS), torch.zeros(SHIPS)
    for hour in reversed(range(HOURS)):
        gained[hour] = ahead = rewards[hour] + 0.9 * ahead
    flat_seen, flat_moves, flat_logs = seen.reshape(-1, 3), moves.reshape(-1), logs.reshape(-1)
    flat_gained, flat_better = gained.reshape(-1), (gained - values).reshape(-1)
    for _ in range(4):
        for part in torch.randperm(HOURS * SHIPS).split(96):
            _, log, entropy, value = pilot.decide(flat_seen[part], flat_moves[part])
            ratio = (log - flat_logs[part]).exp()
            better = flat_better[part]
            better = (better - better.mean()) / (better.std() + 1e-8)
            gain = torch.min(better * ratio, better * ratio.clamp(0.8, 1.2)).mean()
            loss = 0.1 * (value - flat_gained[part]).square().mean() - gain - 0.01 * entropy.mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(pilot.parameters(), 0.5)
            optimizer.step()
    if voyage % 5 == 4:
        print(f"voyage {voyage} reward {rewards.mean().item():.3f}")
