"""A small GAN on the plane: eight clusters on a circle, an averaged generator for the samples."""

import copy
import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

LATENT, WIDTH, BATCH, EPOCHS = 8, 64, 64, 12
PENALTY, PENALTY_EVERY = 0.1, 4
CENTRES = torch.tensor([[math.cos(math.pi * k / 4), math.sin(math.pi * k / 4)] for k in range(8)])


class Clusters(Dataset):
    def __init__(self, count=2048):
        g = torch.Generator().manual_seed(3)
        which = torch.randint(0, 8, (count,), generator=g)
        self.points = CENTRES[which] + 0.06 * torch.randn(count, 2, generator=g)

    def __len__(self):
        return len(self.points)

    def __getitem__(self, i):
        return self.points[i]


class Generator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(LATENT, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 2))

    def forward(self, z):
        return self.body(z)


class Discriminator(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, WIDTH), nn.LeakyReLU(0.2), nn.Linear(WIDTH, WIDTH), nn.LeakyReLU(0.2))
        self.head = nn.Linear(WIDTH + 1, 1)

    def forward(self, x):
        h = self.body(x)
        spread = (h.var(0, unbiased=False) + 1e-6).sqrt().mean()
        h = torch.cat([h, spread.expand(len(h), 1)], 1)
        return self.head(h).squeeze(1)


def gradient_penalty(disc, x):
    x = x.detach().requires_grad_(True)
    (slope,) = torch.autograd.grad(disc(x).sum(), x, create_graph=True)
    return slope.pow(2).sum(1).mean()


def discriminator_loss(real, fake):
    return F.softplus(-real).mean() + F.softplus(fake).mean()


def generator_loss(fake):
    return F.softplus(-fake).mean()


@torch.no_grad()
def average(target, source, decay=0.98):
    for old, new in zip(target.parameters(), source.parameters()):
        old.lerp_(new, 1 - decay)


@torch.no_grad()
def coverage(gen, count=1000):
    gen.eval()
    points = gen(torch.randn(count, LATENT, generator=torch.Generator().manual_seed(9)))
    distance, nearest = torch.cdist(points, CENTRES).min(1)
    gen.train()
    return len(nearest[distance < 0.25].unique()), (distance < 0.25).float().mean().item()


def main():
    torch.manual_seed(0)
    data = Clusters()
    loader = DataLoader(data, batch_size=BATCH, shuffle=True, drop_last=True, generator=torch.Generator().manual_seed(1))
    gen, disc = Generator(), Discriminator()
    smooth = copy.deepcopy(gen)
    opt_g = torch.optim.Adam(gen.parameters(), lr=1e-3, betas=(0.5, 0.99))
    opt_d = torch.optim.Adam(disc.parameters(), lr=2e-3, betas=(0.5, 0.99))
    step = 0
    for epoch in range(EPOCHS):
        for real in loader:
            fake = gen(torch.randn(len(real), LATENT))
            loss_d = discriminator_loss(disc(real), disc(fake.detach()))
            if step % PENALTY_EVERY == 0:
                loss_d = loss_d + PENALTY * gradient_penalty(disc, real)
            opt_d.zero_grad()
            loss_d.backward()
            opt_d.step()

            loss_g = generator_loss(disc(fake))
            opt_g.zero_grad()
            loss_g.backward()
            opt_g.step()
            average(smooth, gen)
            step += 1
        modes, share = coverage(smooth)
        print(f"epoch {epoch} step {step} loss_d {loss_d.item():.3f} loss_g {loss_g.item():.3f} modes {modes} near {share:.2f}")


if __name__ == "__main__":
    main()
