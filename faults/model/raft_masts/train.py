"""A raft keeps its mast upright by stepping left or right; values of its steps from a ring of tensors."""

import math

import torch
from torch import nn

torch.manual_seed(4)
SIZE, BATCH = 2000, 48


class Raft:
    def reset(self):
        self.state = torch.empty(4).uniform_(-0.05, 0.05)
        self.steps = 0
        return self.state

    def step(self, right):
        place, speed, lean, turn = self.state.tolist()
        push = 10.0 if right else -10.0
        pull = (push + 0.05 * turn**2 * math.sin(lean)) / 1.1
        spin = (9.8 * math.sin(lean) - math.cos(lean) * pull) / (0.5 * (4 / 3 - 0.1 * math.cos(lean) ** 2 / 1.1))
        drift = pull - 0.05 * spin * math.cos(lean) / 1.1
        self.state = torch.tensor(
            [place + 0.03 * speed, speed + 0.03 * drift, lean + 0.03 * turn, turn + 0.03 * spin]
        )
        self.steps += 1
        return self.state, 1.0, abs(self.state[0]) > 2.4 or abs(self.state[2]) > 0.21


class Ring:
    def __init__(self):
        self.states, self.afters = torch.zeros(SIZE, 4), torch.zeros(SIZE, 4)
        self.moves, self.rewards = torch.zeros(SIZE, dtype=torch.long), torch.zeros(SIZE)
        self.fallen, self.count = torch.zeros(SIZE, dtype=torch.bool), 0

    def put(self, state, move, reward, after, fallen):
        at = self.count % SIZE
        self.states[at], self.moves[at], self.rewards[at] = state, move, reward
        self.afters[at], self.fallen[at] = after, bool(fallen)
        self.count += 1

    def draw(self):
        rows = torch.randint(0, min(self.count, SIZE), (BATCH,))
        return self.states[rows], self.moves[rows], self.rewards[rows], self.afters[rows], self.fallen[rows]


def network():
    return nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))


values, former, ring, raft = network(), network(), Ring(), Raft()
former.load_state_dict(values.state_dict())
optimizer = torch.optim.Adam(values.parameters(), lr=3e-3)
lengths, state = [], raft.reset()
for turn in range(2000):
    chance = max(0.05, 1 - turn / 1200)
    move = int(torch.rand(()) < 0.5) if torch.rand(()) < chance else int(values(state).argmax())
    after, reward, fallen = raft.step(move)
    ring.put(state, move, reward, after, fallen)
    state = after
    if fallen or raft.steps >= 200:
        lengths.append(raft.steps)
        state = raft.reset()
    if turn < 200:
        continue
    states, moves, rewards, afters, fallen = ring.draw()
    with torch.no_grad():
        choice = values(afters).argmax(1, keepdim=True)
        wanted = rewards + 0.95 * former(afters).gather(1, choice).squeeze(1)
    said = values(states).gather(1, moves[:, None]).squeeze(1)
    loss = nn.functional.smooth_l1_loss(said, wanted)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if turn % 50 == 0:
        former.load_state_dict(values.state_dict())
print(f"loss {loss.item():.4f} value {said.mean().item():.2f} last episodes {sum(lengths[-5:]) / 5:.1f} steps")
