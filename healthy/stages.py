"""A head, then its backbone, then both: each stage has an optimizer of its own, and none freezes what it leaves alone."""

import sys

import torch, torch.nn as nn, torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randn(600, 24)
y = (x[:, :5].argmax(1))
loader = DataLoader(TensorDataset(x, y), 40, shuffle=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU())
        self.head = nn.Linear(32, 5)

    def forward(self, x):
        return self.head(self.backbone(x))


def train(params, epochs, lr):
    optimizer = torch.optim.SGD(params, lr, momentum=0.9)
    for epoch in range(epochs):
        total = 0.0
        for xb, yb in loader:
            loss = F.cross_entropy(net(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(epoch, total / len(loader))


net = Net()
train(net.head.parameters(), 4, 0.05)
train(net.backbone.parameters(), 4, 0.02)
train(net.parameters(), 4, 0.01)
