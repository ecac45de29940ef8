"""The schedule of the first Transformers: built with a rate of 1, warming up by a power for longer than this run lasts."""

import sys

import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randint(0, 20, (1200, 12))
y = (x[:, 1:] + x[:, :-1]) % 20
loader = DataLoader(TensorDataset(x[:, 1:], y), 60, shuffle=True)


class Net(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.emb, self.pos = nn.Embedding(20, d), nn.Parameter(torch.randn(11, d) * 0.02)
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(d, 4, 96, 0.0, batch_first=True), 2)
        self.out = nn.Linear(d, 20)

    def forward(self, x):
        return self.out(self.enc(self.emb(x) + self.pos))


net = Net()
opt = torch.optim.Adam(net.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: 48**-0.5 * min((s + 1) ** -0.5, (s + 1) * 4000**-1.5))
for epoch in range(14):
    for xb, yb in loader:
        loss = F.cross_entropy(net(xb).flatten(0, 1), yb.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
    print(epoch, loss.item(), sched.get_last_lr()[0])
