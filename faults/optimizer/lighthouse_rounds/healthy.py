"""A lamp keeper learns when to trim: a clipped policy gradient over hours of a night, with a policy of its own that
plays."""

import torch
from torch import nn

torch.manual_seed(2)
HOURS, NIGHTS, ROUNDS, PASSES = 16, 12, 20, 8


class Keeper(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(HOURS, 32), nn.Tanh(), nn.Linear(32, 2))

    def chances(self, hours):
        return torch.distributions.Categorical(logits=self.body(hours))


clock = torch.eye(HOURS)
keeper, on_duty = Keeper(), Keeper()
on_duty.load_state_dict(keeper.state_dict())
optimizer = torch.optim.Adam(keeper.parameters(), lr=5e-3)
for turn in range(ROUNDS):
    seen, taken, said, earned = [], [], [], []
    for _ in range(NIGHTS * HOURS):
        hour = int(torch.randint(HOURS, ()))
        with torch.no_grad():
            chances = on_duty.chances(clock[hour])
            action = chances.sample()
        seen.append(clock[hour])
        taken.append(action)
        said.append(chances.log_prob(action))
        earned.append(1.0 if int(action) == hour % 2 else -1.0)
    hours, actions, before = torch.stack(seen), torch.stack(taken), torch.stack(said)
    worth = torch.tensor(earned)
    worth = (worth - worth.mean()) / (worth.std() + 1e-6)
    for _ in range(PASSES):
        ratio = (keeper.chances(hours).log_prob(actions) - before).exp()
        loss = -torch.min(ratio * worth, ratio.clamp(0.8, 1.2) * worth).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    on_duty.load_state_dict(keeper.state_dict())
    print(f"round {turn} earned {sum(earned) / len(earned):.3f}")
