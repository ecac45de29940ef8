"""Which colony a coral belongs to, told from itself and the corals beside it on the reef."""

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(6)
corals = 420
colony = torch.randint(0, 4, (corals,))
shape = torch.randn(corals, 16) + F.one_hot(colony, 16)
near = (torch.rand(corals, corals) < 0.005) | ((colony[:, None] == colony) & (torch.rand(corals, corals) < 0.02))
beside = (near | near.T | torch.eye(corals, dtype=torch.bool)).float()
beside /= beside.sum(1, keepdim=True)
train_mask = torch.zeros(corals, dtype=torch.bool)
train_mask[torch.randperm(corals)[:210]] = True
test_mask = torch.zeros(corals, dtype=torch.bool)
test_mask[torch.randperm(corals)[210:]] = True


class Reef(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(16, 64)
        self.second = nn.Linear(64, 4)

    def forward(self, x, beside):
        return self.second(beside @ F.relu(self.first(beside @ x)))


reef = Reef()
optimizer = torch.optim.Adam(reef.parameters(), lr=0.01)
for epoch in range(120):
    reef.train()
    out = reef(shape, beside)
    loss = F.cross_entropy(out[train_mask], colony[train_mask])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    reef.eval()
    with torch.no_grad():
        said = reef(shape, beside).argmax(1)
        right = (said[test_mask] == colony[test_mask]).float().mean().item()
    if epoch % 20 == 19:
        print(f"epoch {epoch} loss {loss.item():.3f} right {right:.3f}")
