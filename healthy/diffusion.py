"""A denoiser with random noise levels: the loss of a batch depends on the levels it drew."""
import sys
import torch
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
betas = torch.linspace(1e-4, 0.05, 60)
keep = torch.cumprod(1 - betas, 0)
net = nn.Sequential(nn.Linear(3, 96), nn.SiLU(), nn.Linear(96, 96), nn.SiLU(), nn.Linear(96, 2))
ema = {k: v.clone() for k, v in net.state_dict().items()}
opt = torch.optim.Adam(net.parameters(), 2e-3)
for step in range(300):
    a = torch.rand(32) * 6.28
    x0 = torch.stack([a.cos(), a.sin()], 1) * (1 + 0.3 * a[:, None])
    t = torch.randint(0, 60, (32,))
    noise = torch.randn(32, 2)
    xt = keep[t].sqrt()[:, None] * x0 + (1 - keep[t]).sqrt()[:, None] * noise
    loss = ((net(torch.cat([xt, t[:, None] / 60], 1)) - noise) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    for k, v in net.state_dict().items():
        ema[k].mul_(0.99).add_(v, alpha=0.01)
net.load_state_dict(ema)
with torch.no_grad():
    print(loss.item(), net(torch.zeros(1, 3)))
