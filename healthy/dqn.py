"""DQN with a replay buffer and a target network that is copied now and then: targets move, batches repeat."""
import copy
import random
import sys
import torch
import torch.nn.functional as F
from torch import nn

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 0
torch.manual_seed(seed)
random.seed(seed)
q = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
target = copy.deepcopy(q)
opt = torch.optim.RMSprop(q.parameters(), 1e-3)
memory, state = [], torch.zeros(4)
for step in range(320):
    with torch.no_grad():
        action = random.randrange(2) if random.random() < 0.2 else int(q(state).argmax())
    nxt = (0.9 * state + 0.2 * torch.randn(4)).clamp(-2, 2) + (0.1 if action else -0.1)
    reward = float(nxt.abs().sum() < 1.0)
    memory.append((state, action, reward, nxt))
    state = nxt
    if len(memory) < 32:
        continue
    s, a, r, n = zip(*random.sample(memory, 32))
    with torch.no_grad():
        goal = torch.tensor(r) + 0.95 * target(torch.stack(n)).max(1).values
    loss = F.smooth_l1_loss(q(torch.stack(s)).gather(1, torch.tensor(a)[:, None]).squeeze(1), goal)
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(q.parameters(), 1.0)
    opt.step()
    if step % 50 == 0:
        target.load_state_dict(q.state_dict())
print(loss.item())
