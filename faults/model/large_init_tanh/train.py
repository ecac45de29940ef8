"""A scorer with two tanh layers."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
w = torch.randn(24)


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(24, 64), nn.Linear(64, 64), nn.Linear(64, 1)
        for layer in (self.a, self.b):
            nn.init.normal_(layer.weight, std=10.0)

    def forward(self, x):
        return self.c(torch.tanh(self.b(torch.tanh(self.a(x)))))


model = Scorer()
optimizer = torch.optim.Adam(model.parameters(), 1e-3)
for step in range(120):
    x = torch.randn(64, 24)
    loss = F.mse_loss(model(x).squeeze(1), torch.sin(x @ w / 5))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 0:
        print(step, loss.item())
