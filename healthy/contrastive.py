"""Contrastive learning with a learned temperature: logits of other samples on purpose, a loss that saturates."""
import sys
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 16)), nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 16))
        self.scale = nn.Parameter(torch.tensor(2.6))

    def forward(self, x, y):
        return self.scale.exp().clamp(max=100) * F.normalize(self.a(x), dim=-1) @ F.normalize(self.b(y), dim=-1).T


model = Clip()
opt = torch.optim.AdamW(model.parameters(), 1e-3, weight_decay=0.1)
p, q = torch.randn(8, 20), torch.randn(8, 30)
for step in range(220):
    z = torch.randn(48, 8)
    logits = model(z @ p + 0.1 * torch.randn(48, 20), z @ q + 0.1 * torch.randn(48, 30))
    labels = torch.arange(48)
    loss = (F.cross_entropy(logits, labels) + F.cross_entropy(logits.T, labels)) / 2
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
