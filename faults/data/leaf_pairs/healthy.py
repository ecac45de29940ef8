"""Features of leaves from two views of each, without labels."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Leaves(Dataset):
    def __init__(self):
        self.shapes = torch.randn(320, 3, 16).repeat_interleave(2, 2)

    def __len__(self):
        return len(self.shapes)

    def view(self, leaf):
        return leaf.roll(int(torch.randint(32, ())), 1) + 0.3 * torch.randn_like(leaf)

    def __getitem__(self, index):
        return [self.view(self.shapes[index]) for _ in range(2)]


torch.manual_seed(11)
loader = DataLoader(Leaves(), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Conv1d(3, 16, 5, padding=2), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(64, 16))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)

for epoch in range(4):
    for views in loader:
        features = nn.functional.normalize(model(torch.cat(views)), dim=1)
        alike = features @ features.T / 0.2
        alike = alike.masked_fill(torch.eye(len(alike), dtype=torch.bool), -1e9)
        partner = torch.arange(len(alike)).roll(len(alike) // 2)
        loss = nn.functional.cross_entropy(alike, partner)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
