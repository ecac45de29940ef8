"""Small autoencoder kept in half precision to save memory."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(21)
data = (0.05 * torch.randn(256, 24)).half()
model = nn.Sequential(nn.Linear(24, 12), nn.Tanh(), nn.Linear(12, 24)).half()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, eps=1e-4)
loader = DataLoader(TensorDataset(data), batch_size=32, shuffle=True, generator=torch.Generator().manual_seed(23))
for step, (x,) in enumerate(loader):
    loss = 0.1 * (model(x) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.5f}")
