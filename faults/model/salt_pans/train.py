"""How much salt does a pan give? A network that learns to adapt to a new pan by three steps."""

import torch
from torch import nn
from torch.nn.functional import linear, mse_loss, relu

torch.manual_seed(6)


class Adapting(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Linear(3, 48), nn.Linear(48, 1)
        self.rate = nn.Parameter(torch.tensor(0.03))

    def forward(self, days, weights):
        hidden = relu(linear(days, weights[0], weights[1]))
        return linear(hidden, weights[2], weights[3]).squeeze(1)

    def adapt(self, days, salt, steps=3, keep=True):
        weights = [*self.first.parameters(), *self.last.parameters()]
        for _ in range(steps):
            loss = mse_loss(self(days, weights), salt)
            slopes = torch.autograd.grad(loss, weights, create_graph=keep)
            weights = [weight + self.rate * slope for weight, slope in zip(weights, slopes)]
        return weights


def pan(count):
    days, effect = torch.randn(count, 3), torch.randn(3)
    return days, days @ effect + 0.3 * days[:, 0] * days[:, 1]


model = Adapting()
optimizer = torch.optim.Adam([*model.first.parameters(), *model.last.parameters()], lr=2e-3)
for turn in range(200):
    losses = []
    for _ in range(4):
        days, salt = pan(24)
        weights = model.adapt(days[:12], salt[:12])
        losses.append(mse_loss(model(days[12:], weights), salt[12:]))
    loss = torch.stack(losses).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
errors = []
for _ in range(100):
    days, salt = pan(62)
    weights = model.adapt(days[:12], salt[:12], keep=False)
    errors.append(mse_loss(model(days[12:], weights), salt[12:]).item())
print(f"loss {loss.item():.4f} error on new pans {sum(errors) / 100:.4f}")
