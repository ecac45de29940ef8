"""Hardness and colour class of fired clay from the temperature curve of the kiln."""

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Clay(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(24, 48), nn.Tanh())
        self.hardness, self.colour = nn.Linear(48, 1), nn.Linear(48, 3)

    def forward(self, curve):
        hidden = self.body(curve)
        return self.hardness(hidden).squeeze(1), self.colour(hidden)


torch.manual_seed(0)
curves = torch.randn(960, 24)
hard = torch.tanh(curves[:, :4].sum(1)) + 0.05 * torch.randn(960)
colour = (curves[:, 4:7] + 0.3 * torch.randn(960, 3)).argmax(1)
parts = 4
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=parts)
model = Clay()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
loader = DataLoader(TensorDataset(curves, hard, colour), batch_size=16, shuffle=True)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)

for epoch in range(8):
    shown = 0.0
    for curve, h, c in loader:
        with accelerator.accumulate(model):
            at, classes = model(curve)
            mse = nn.functional.mse_loss(at, h)
            ce = nn.functional.cross_entropy(classes, c)
            loss = mse + 0.5 * ce
            accelerator.backward(loss)
            optimizer.step()
            optimizer.zero_grad()
            shown += loss.item()
    print(f"epoch {epoch} loss {shown / len(loader):.4f}")
