"""A WGAN with gradient penalty: double backward, five critic steps for one of the generator, losses below zero."""
import sys
import torch
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
G = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 2))
D = nn.Sequential(nn.Linear(2, 64), nn.Softplus(), nn.Linear(64, 64), nn.Softplus(), nn.Linear(64, 1))
g_opt = torch.optim.Adam(G.parameters(), 1e-3, betas=(0.0, 0.9))
d_opt = torch.optim.Adam(D.parameters(), 1e-3, betas=(0.0, 0.9))
for step in range(60):
    for _ in range(5):
        real = torch.randn(64, 2) * 0.3 + torch.tensor([1.0, -1.0])
        fake = G(torch.randn(64, 4)).detach()
        mix = torch.rand(64, 1)
        x = (mix * real + (1 - mix) * fake).requires_grad_(True)
        slope = torch.autograd.grad(D(x).sum(), x, create_graph=True)[0].norm(2, dim=1)
        loss = D(fake).mean() - D(real).mean() + 10 * ((slope - 1) ** 2).mean()
        d_opt.zero_grad()
        loss.backward()
        d_opt.step()
    g_loss = -D(G(torch.randn(64, 4))).mean()
    g_opt.zero_grad()
    g_loss.backward()
    g_opt.step()
print(loss.item(), g_loss.item())
