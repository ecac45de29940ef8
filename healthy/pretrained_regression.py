"""Standardised targets that are nearly solved from the start: a tiny loss, a flat curve, a rate of 1e-5."""
import sys
import torch
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = nn.Sequential(nn.Linear(6, 1))
with torch.no_grad():
    model[0].weight.copy_(torch.tensor([[1.0, -2.0, 0.5, 0.0, 3.0, 1.0]]))
    model[0].bias.zero_()
truth = model[0].weight.detach().clone()
opt = torch.optim.Adam(model.parameters(), 1e-5)
for step in range(300):
    x = torch.randn(64, 6)
    loss = nn.functional.huber_loss(model(x), x @ truth.T + 0.01 * torch.randn(64, 1))
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
