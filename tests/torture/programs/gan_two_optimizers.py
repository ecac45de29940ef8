"""A GAN: two optimizers, the fake batch of one forward is used detached for the one and with its graph for the other."""
import torch
from torch import nn

torch.manual_seed(0)
maker = nn.Sequential(nn.Linear(2, 8), nn.BatchNorm1d(8), nn.LeakyReLU(0.2), nn.Linear(8, 3))
judge = nn.Sequential(nn.Linear(3, 8), nn.LeakyReLU(0.2), nn.Dropout(0.2), nn.Linear(8, 1))
opt_maker = torch.optim.Adam(maker.parameters(), lr=2e-3, betas=(0.5, 0.999))
opt_judge = torch.optim.Adam(judge.parameters(), lr=1e-3, betas=(0.5, 0.999))
criterion = nn.BCEWithLogitsLoss()
for step in range(8):
    real = torch.randn(6, 3) * 2 + 1
    fake = maker(torch.randn(6, 2))
    judge.zero_grad()
    loss_real = criterion(judge(real), torch.full((6, 1), 0.9))
    loss_real.backward()
    loss_fake = criterion(judge(fake.detach()), torch.zeros(6, 1))
    loss_fake.backward()
    opt_judge.step()
    for p in judge.parameters():
        p.requires_grad_(False)
    opt_maker.zero_grad()
    loss_maker = criterion(judge(fake), torch.ones(6, 1))
    loss_maker.backward()
    opt_maker.step()
    for p in judge.parameters():
        p.requires_grad_(True)
    print(step, loss_real.item().hex(), loss_fake.item().hex(), loss_maker.item().hex())
print(sum(p.double().sum().item() for p in [*maker.parameters(), *judge.parameters()]).hex())
