"""Deep Q learning: acting without gradients, a replay deque sampled by `random`, a target net synced by load_state_dict."""
import copy
import random
from collections import deque, namedtuple

import torch
from torch import nn

Move = namedtuple("Move", "state action reward after done")
random.seed(0)
torch.manual_seed(0)
online = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 3))
target = copy.deepcopy(online).eval().requires_grad_(False)
optimizer = torch.optim.RMSprop(online.parameters(), lr=1e-3)
memory, state, total = deque(maxlen=50), torch.zeros(4), 0.0
for step in range(60):
    if random.random() < 0.3:
        action = random.randrange(3)
    else:
        with torch.no_grad():
            action = online(state[None]).argmax(1).item()
    after = (state * 0.9 + torch.randn(4) * 0.1 + 0.05 * (action - 1)).clamp(-1, 1)
    reward = 1.0 - after.abs().sum().item()
    total += reward
    memory.append(Move(state, action, reward, after, step % 20 == 19))
    state = torch.zeros(4) if memory[-1].done else after
    if len(memory) < 16:
        continue
    batch = Move(*zip(*random.sample(memory, 16), strict=True))
    q = online(torch.stack(batch.state)).gather(1, torch.tensor(batch.action)[:, None]).squeeze(1)
    with torch.no_grad():
        goal = torch.tensor(batch.reward) + 0.9 * target(torch.stack(batch.after)).amax(1) * ~torch.tensor(batch.done)
    loss = nn.functional.smooth_l1_loss(q, goal)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_value_(online.parameters(), 1.0)
    optimizer.step()
    if step % 15 == 0:
        target.load_state_dict(online.state_dict())
        print(step, loss.item().hex(), total.hex())
print(sum(p.double().sum().item() for p in online.parameters()).hex(), random.random().hex())
