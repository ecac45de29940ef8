"""A module whose forward calls backward (and even steps an inner optimizer), loss computed in forward, training inside no_grad with enable_grad."""
import torch
from torch import nn


class Adapts(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.head = nn.Linear(3, 4), nn.Linear(4, 3)
        self.inner = torch.optim.SGD(self.head.parameters(), lr=0.1)

    def forward(self, x):
        h = torch.tanh(self.layer(x))
        with torch.enable_grad():
            guess = (self.head(h.detach()) - x).pow(2).mean()
            self.inner.zero_grad()
            guess.backward()
            self.inner.step()
        return self.head(h), guess.detach()


class Whole(nn.Module):
    def __init__(self, body):
        super().__init__()
        self.body = body
        self.optimizer = torch.optim.Adam(body.layer.parameters(), lr=1e-2)

    def forward(self, x):
        out, guess = self.body(x)
        loss = (out - x).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.item(), guess.item()


@torch.no_grad()
def train(model, steps):
    for step in range(steps):
        x = torch.randn(5, 3)
        with torch.enable_grad():
            loss, guess = model(x)
        quiet, _ = model.body(x)
        print(step, loss.hex(), guess.hex(), quiet.requires_grad, torch.is_grad_enabled())


torch.manual_seed(0)
train(Whole(Adapts()), 5)
x = torch.randn(3, requires_grad=True)
torch.set_grad_enabled(False)
with torch.enable_grad():
    y = (x * 2).sum()
y.backward()
print(x.grad.tolist(), torch.is_grad_enabled())
