"""Depth, salt and kind of bottom from a sounding: three tasks that weigh themselves by their uncertainty."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(31)


class Sounding(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.depth, self.salt, self.bottom = nn.Linear(64, 1), nn.Linear(64, 1), nn.Linear(64, 4)
        self.log_variance = nn.Parameter(torch.zeros(3))

    def forward(self, echo):
        h = self.body(echo)
        return self.depth(h).squeeze(1), self.salt(h).squeeze(1), self.bottom(h)

    def total(self, losses):
        precision = torch.exp(self.log_variance)
        weighted = (precision * torch.stack(losses)).sum()
        return weighted + self.log_variance.sum()


echo = torch.randn(3000, 12)
depth = 2 * torch.sin(echo[:, :4].sum(1)) + 0.1 * torch.randn(3000)
salt = (echo[:, 2:6].sum(1)).abs() + 0.4 * torch.randn(3000)
bottom = (echo @ torch.randn(12, 4)).argmax(1)
model = Sounding()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
for epoch in range(20):
    for rows in torch.randperm(2400).split(60):
        d, s, b = model(echo[rows])
        loss = model.total([F.mse_loss(d, depth[rows]), F.mse_loss(s, salt[rows]), F.cross_entropy(b, bottom[rows])])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        d, s, b = model(echo[2400:])
        right = (b.argmax(1) == bottom[2400:]).float().mean()
        off = F.mse_loss(d, depth[2400:]).sqrt(), F.mse_loss(s, salt[2400:]).sqrt()
    if epoch % 5 == 4:
        print(f"epoch {epoch} loss {loss.item():.3f} depth off by {off[0]:.3f} salt {off[1]:.3f} bottom {right:.3f}")
