"""Colours for grey field maps: every field is either meadow or ripe, and a painter has to decide for one of the two."""

import torch
from torch import nn

torch.manual_seed(9)
meadow, ripe = torch.tensor([0.1, 0.9, 0.2]), torch.tensor([0.9, 0.6, -0.4])


def fields(count):
    grey = torch.rand(count, 2)
    tint = torch.where(torch.rand(count, 1) < 0.5, meadow, ripe)
    return grey, tint * (0.5 + grey.mean(1, keepdim=True)) + 0.03 * torch.randn(count, 3)


class Painter(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2))
        self.tint = nn.Linear(48, 3)

    def forward(self, grey):
        return self.tint(self.net(torch.cat([grey, torch.randn(len(grey), 3)], 1)))


def missed(grey, made):
    light = 0.5 + grey.mean(1, keepdim=True)
    return torch.minimum((made - light * meadow).norm(dim=1), (made - light * ripe).norm(dim=1)).mean()


painter = Painter()
expert = nn.Sequential(nn.Linear(5, 48), nn.LeakyReLU(0.2), nn.Linear(48, 48), nn.LeakyReLU(0.2), nn.Linear(48, 1))
paints = torch.optim.Adam(painter.parameters(), lr=1e-3, betas=(0.5, 0.99))
judges = torch.optim.Adam(expert.parameters(), lr=1e-3, betas=(0.5, 0.99))

for step in range(800):
    grey, tint = fields(64)
    made = painter(grey)
    genuine = (expert(torch.cat([grey, tint], 1)) - 1).square().mean()
    forged = expert(torch.cat([grey, made.detach()], 1)).square().mean()
    judges.zero_grad()
    (genuine + forged).backward()
    judges.step()

    believed = (expert(torch.cat([grey, made], 1)) - 1).square().mean()
    close = nn.functional.mse_loss(made, tint)
    paints.zero_grad()
    (believed + 0.05 * close).backward()
    paints.step()
    if step % 200 == 199:
        with torch.no_grad():
            off = missed(grey, painter(grey))
        print(f"step {step + 1} believed {believed.item():.3f} close {close.item():.3f} off by {off.item():.3f}")
