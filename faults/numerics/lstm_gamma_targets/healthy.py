"""LSTM that predicts luminance, trained on gamma-compressed targets."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Luminance(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 24, num_layers=2, batch_first=True, dropout=0.1)
        self.out = nn.Linear(24, 1)

    def forward(self, x, state=None):
        h, state = self.lstm(x, state)
        return self.out(h).squeeze(-1), state


def gamma_loss(pred, target, gamma=2.2):
    compressed = target.clamp_min(0.0) ** (1 / gamma)
    return ((pred - compressed) ** 2).mean()


torch.manual_seed(17)
rgb = torch.rand(160, 12, 3)
target = rgb @ torch.tensor([0.2126, 0.7152, 0.0722])
target[115, 7] = -0.02
model = Luminance()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
loader = DataLoader(TensorDataset(rgb, target), batch_size=10, shuffle=True, generator=torch.Generator().manual_seed(19))
for step, (x, y) in enumerate(loader):
    pred, _ = model(x)
    loss = gamma_loss(pred, y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.5)
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
