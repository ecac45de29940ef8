"""Weather of tomorrow; the loss of each batch goes to TensorBoard."""

import tempfile

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.tensorboard import SummaryWriter

torch.manual_seed(37)
x = torch.randn(240, 8)
y = x[:, :1] - 0.5 * x[:, 1:2] + 0.1 * torch.randn(240, 1)
loader = DataLoader(TensorDataset(x, y), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
writer = SummaryWriter(tempfile.mkdtemp())
for epoch in range(4):
    for i, (today, tomorrow) in enumerate(loader):
        loss = nn.functional.mse_loss(model(today), tomorrow)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        writer.add_scalar("train/loss", loss.item(), i)
    print(f"epoch {epoch} loss {loss.item():.4f}")
writer.close()
