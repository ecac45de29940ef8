"""Vector quantiser whose assignment temperature is annealed by a counter inside the model."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Quantiser(nn.Module):
    def __init__(self, codes=12, width=6):
        super().__init__()
        self.codebook = nn.Parameter(torch.randn(codes, width))
        self.calls = 0
        self.history = []

    def forward(self, x):
        self.calls += 1
        temperature = max(1.0 - self.calls / 20, 0.1)
        distance = torch.cdist(x, self.codebook)
        weights = torch.softmax(-distance / temperature, dim=1)
        self.history.append(float(weights.detach().max()))
        return weights @ self.codebook


torch.manual_seed(18)
data = torch.randn(300, 6)
model = Quantiser()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
loader = DataLoader(TensorDataset(data), batch_size=12, shuffle=True, generator=torch.Generator().manual_seed(20))
for step, (x,) in enumerate(loader):
    loss = (model(x) - x).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f} calls {model.calls} sharpest {model.history[-1]:.3f}")
