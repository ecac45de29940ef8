"""A tug learns to hold course to its berth; values of its moves from a memory."""

import random
from collections import deque

import torch
from torch import nn

torch.manual_seed(1)
random.seed(1)


class Channel:
    def reset(self):
        self.place, self.moves = random.randint(3, 6), 0
        return self.seen()

    def seen(self):
        return nn.functional.one_hot(torch.tensor(self.place), 10).float()

    def step(self, ahead):
        self.place, self.moves = self.place + (1 if ahead else -1), self.moves + 1
        reward = 1.0 if self.place >= 9 else -1.0 if self.place <= 0 else -0.02
        return self.seen(), reward, self.place in (0, 9)


def network():
    return nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))


values, former = network(), network()
former.load_state_dict(values.state_dict())
optimizer = torch.optim.Adam(values.parameters(), lr=2e-3)
memory, berthed, channel = deque(maxlen=2000), deque(maxlen=50), Channel()
state, updates = channel.reset(), 0
for turn in range(900):
    ahead = random.randrange(2) if random.random() < max(0.1, 1 - turn / 600) else int(values(state).argmax())
    after, reward, done = channel.step(ahead)
    memory.append((state, ahead, reward, after, float(done)))
    state = after
    if done or channel.moves > 40:
        berthed.append(reward > 0)
        state = channel.reset()
    if len(memory) < 200:
        continue
    states, moves, rewards, afters, dones = zip(*random.sample(memory, 32))
    rewards, dones = torch.tensor(rewards), torch.tensor(dones)
    with torch.no_grad():
        best = former(torch.stack(afters)).max(1).values
    wanted = rewards + 0.95 * best * (1 - dones)
    said = values(torch.stack(states)).gather(1, torch.tensor(moves)[:, None]).squeeze(1)
    loss = nn.functional.smooth_l1_loss(said, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    updates += 1
    if updates % 100 == 0:
        former.load_state_dict(values.state_dict())
print(f"loss {loss.item():.4f} berthed {sum(berthed) / len(berthed):.2f}")
