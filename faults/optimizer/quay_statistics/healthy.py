"""Which berth a ship is given, from its papers; the averaged network is what is evaluated."""

import copy

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)


class Average:
    def __init__(self, model, decay):
        self.decay = decay
        self.copy = copy.deepcopy(model).requires_grad_(False).eval()

    @torch.no_grad()
    def update(self, model):
        for slow, fast in zip(self.copy.parameters(), model.parameters()):
            slow.mul_(self.decay).add_(fast, alpha=1 - self.decay)
        for slow, fast in zip(self.copy.buffers(), model.buffers()):
            slow.copy_(fast)


papers = torch.randn(960, 10) * 3 + 2
berth = (papers[:, 0] > 2).long() + (papers[:, 1] > 2).long()
model = nn.Sequential(nn.Linear(10, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 3))
average = Average(model, 0.95)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(8):
    for x, y in DataLoader(TensorDataset(papers[:800], berth[:800]), batch_size=40, shuffle=True):
        loss = nn.functional.cross_entropy(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update(model)
    with torch.no_grad():
        right = (average.copy(papers[800:]).argmax(1) == berth[800:]).float().mean()
    print(f"epoch {epoch} right {right:.3f}")
