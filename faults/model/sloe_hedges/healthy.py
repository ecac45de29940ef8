"""Which hedges bear sloes: few do, so a focal loss is to look at the hard ones."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(6)
sloes = (torch.rand(2400) < 0.12).long()
hedges = torch.randn(2400, 12)
hedges[:, 0] += 1.5 * sloes
hedges[:, 1] -= sloes


class FocalLoss(nn.Module):
    def __init__(self, gamma=2.0):
        super().__init__()
        self.gamma = gamma
        self.cross_entropy = nn.CrossEntropyLoss(reduction="none")

    def forward(self, scores, labels):
        cost = self.cross_entropy(scores, labels)
        right = torch.exp(-cost)
        return ((1 - right) ** self.gamma * cost).mean()


model = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 2))
criterion = FocalLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
train = DataLoader(TensorDataset(hedges[:2000], sloes[:2000]), batch_size=40, shuffle=True)
for epoch in range(5):
    for x, y in train:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        found = (model(hedges[2000:]).argmax(1) == 1)[sloes[2000:] == 1].float().mean().item()
    print(f"epoch {epoch} loss {loss.item():.4f} found {found:.3f}")
