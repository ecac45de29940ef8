"""Tension of a loom from its settings; what is evaluated is a running average of the weights."""

import torch
from torch import nn


class Smoothed:
    def __init__(self, net, most=0.9995):
        self.most, self.count = most, 0
        self.kept = {name: p.detach().clone() for name, p in net.named_parameters()}
        self.own = {}

    def share_kept(self):
        return min(self.most, (1 + self.count) / (10 + self.count))

    @torch.no_grad()
    def follow(self, net):
        self.count += 1
        keep = self.share_kept()
        for name, p in net.named_parameters():
            self.kept[name] = keep * self.kept[name] + (1 - keep) * p

    def swap_in(self, net):
        for name, p in net.named_parameters():
            self.own[name] = p.detach().clone()
            p.data.copy_(self.kept[name])

    def swap_out(self, net):
        for name, p in net.named_parameters():
            p.data.copy_(self.own[name])


torch.manual_seed(4)
settings = torch.randn(480, 6)
tension = torch.sin(settings[:, :1]) + settings[:, 1:2].abs()
net = nn.Sequential(nn.Linear(6, 32), nn.Tanh(), nn.Linear(32, 1))
smoothed = Smoothed(net)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)

for epoch in range(12):
    for rows in torch.randperm(400).split(20):
        loss = nn.functional.mse_loss(net(settings[rows]), tension[rows])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        smoothed.follow(net)
    smoothed.swap_in(net)
    with torch.no_grad():
        held = nn.functional.mse_loss(net(settings[400:]), tension[400:])
    smoothed.swap_out(net)
    print(f"epoch {epoch} loss {loss.item():.4f} of the average {held.item():.4f}")
