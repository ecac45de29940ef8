"""Flow of wells from their logs; the field books come in two formats."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Wells(Dataset):
    def __init__(self):
        g = torch.Generator().manual_seed(6)
        self.logs = torch.randn(640, 10, generator=g)
        self.flows = self.logs[:, :3].sum(1) + 0.1 * torch.randn(640, generator=g)

    def __len__(self):
        return 640

    def __getitem__(self, i):
        flow = self.flows[i]
        return self.logs[i], flow


torch.manual_seed(2)
model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
loader = DataLoader(Wells(), batch_size=16)
for epoch in range(2):
    for logs, flow in loader:
        loss = (model(logs).squeeze(1) - flow).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
