"""A corridor learnt by an actor and a critic of their own optimizers: rare rewards make the losses of both jump."""
import sys, torch, random
from torch import nn
s = int(sys.argv[1]) if len(sys.argv) > 1 else 0; torch.manual_seed(s); random.seed(s)
# a corridor of 9 cells, start in the middle, goal at the right, pit at the left
pi = nn.Sequential(nn.Linear(9, 32), nn.Tanh(), nn.Linear(32, 2)); v = nn.Sequential(nn.Linear(9, 32), nn.Tanh(), nn.Linear(32, 1))
po = torch.optim.Adam(pi.parameters(), 3e-3); vo = torch.optim.Adam(v.parameters(), 1e-2)
eye = torch.eye(9)
for ep in range(120):
    pos, states, logps, rewards, ents = 4, [], [], [], []
    for t in range(30):
        x = eye[pos]; d = torch.distributions.Categorical(logits=pi(x)); a = d.sample()
        states.append(x); logps.append(d.log_prob(a)); ents.append(d.entropy())
        pos += 1 if (a.item() == 1) != (random.random() < 0.1) else -1
        r = 10.0 if pos == 8 else -5.0 if pos == 0 else -0.1
        rewards.append(r)
        if pos in (0, 8): break
    G, ret = 0.0, []
    for r in reversed(rewards): G = r + 0.98 * G; ret.append(G)
    ret = torch.tensor(ret[::-1]); S = torch.stack(states)
    val = v(S).squeeze(1)
    vl = nn.functional.mse_loss(val, ret)
    vo.zero_grad(); vl.backward(); vo.step()
    adv = ret - val.detach()
    pl = -(torch.stack(logps) * adv).sum() - 0.01 * torch.stack(ents).sum()
    po.zero_grad(); pl.backward(); po.step()
    if ep % 20 == 0: print(ep, pl.item(), vl.item(), sum(rewards))
