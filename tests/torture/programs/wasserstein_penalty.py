"""WGAN-GP: five critic updates per generator update, a double backward through the interpolates, weight clipping now and then."""
import torch
from torch import nn

torch.manual_seed(0)
maker, critic = nn.Sequential(nn.Linear(2, 6), nn.SiLU(), nn.Linear(6, 2)), nn.Sequential(nn.Linear(2, 6), nn.SiLU(), nn.Linear(6, 1))
opt_g, opt_c = (torch.optim.AdamW(m.parameters(), lr=1e-2, betas=(0.0, 0.9)) for m in (maker, critic))


def penalty(real, fake):
    mix = torch.rand(real.shape[0], 1)
    between = (mix * real + (1 - mix) * fake).requires_grad_(True)
    score = critic(between)
    (slope,) = torch.autograd.grad(outputs=score, inputs=between, grad_outputs=torch.ones_like(score), create_graph=True, retain_graph=True, only_inputs=True)
    return ((slope.view(slope.shape[0], -1).norm(2, dim=1) - 1) ** 2).mean()


for step in range(3):
    for _ in range(5):
        real = torch.randn(8, 2) + 3
        with torch.no_grad():
            fake = maker(torch.randn(8, 2))
        gap = critic(fake).mean() - critic(real).mean()
        loss = gap + 10 * penalty(real, fake)
        opt_c.zero_grad(set_to_none=True)
        loss.backward()
        opt_c.step()
    opt_g.zero_grad()
    loss_g = -critic(maker(torch.randn(8, 2))).mean()
    loss_g.backward()
    opt_g.step()
    with torch.no_grad():
        for p in critic.parameters():
            p.clamp_(-2, 2)
    print(step, loss.item().hex(), gap.item().hex(), loss_g.item().hex())
