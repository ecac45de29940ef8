"""Q-learning on a grid with a target network and a rare reward: the loss begins near 0 and rises once the reward is found."""
import sys, torch, random, copy
from torch import nn
from collections import deque
s = int(sys.argv[1]) if len(sys.argv) > 1 else 0; torch.manual_seed(s); random.seed(s)
N = 6
def enc(p): x = torch.zeros(2 * N); x[p[0]] = 1; x[N + p[1]] = 1; return x
q = nn.Sequential(nn.Linear(2 * N, 64), nn.ReLU(), nn.Linear(64, 4)); tgt = copy.deepcopy(q).requires_grad_(False)
opt = torch.optim.Adam(q.parameters(), 1e-3); mem = deque(maxlen=3000); p = (0, 0); n = 0; total = []
for it in range(450):
    eps = max(.05, 1 - it / 1000)
    with torch.no_grad(): a = random.randrange(4) if random.random() < eps else q(enc(p)).argmax().item()
    dx, dy = ((1, 0), (-1, 0), (0, 1), (0, -1))[a]
    p2 = (min(max(p[0] + dx, 0), N - 1), min(max(p[1] + dy, 0), N - 1)); done = p2 == (N - 1, N - 1)
    r = 10. if done else -5. if p2 == (2, 3) else -.1
    n += 1; mem.append((enc(p), a, r, enc(p2), done)); p = p2
    if done or n > 60: total.append(n); p, n = (0, 0), 0
    if len(mem) < 64: continue
    b = random.sample(mem, 32); S = torch.stack([x[0] for x in b]); A = torch.tensor([x[1] for x in b]); R = torch.tensor([x[2] for x in b]); S2 = torch.stack([x[3] for x in b]); Dn = torch.tensor([float(x[4]) for x in b])
    y = R + .95 * (1 - Dn) * tgt(S2).max(1).values
    loss = nn.functional.smooth_l1_loss(q(S).gather(1, A[:, None]).squeeze(1), y)
    opt.zero_grad(); loss.backward(); opt.step()
    if it % 150 == 0: tgt.load_state_dict(q.state_dict())
    if it % 50 == 0: print(it, loss.item(), total[-3:])
