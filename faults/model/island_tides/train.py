"""Each island has a tide of its own: a network that adapts to a new one from ten readings."""

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(3)
RATE = 0.05


def readings(count=20):
    height, shift = torch.empty(2).uniform_(0.5, 2.5)
    hours = torch.rand(count, 1) * 8 - 4
    return hours, height * torch.sin(hours + shift)


def adapt(model, hours, levels, keep=True):
    weights = dict(model.named_parameters())
    loss = nn.functional.mse_loss(functional_call(model, weights, (hours,)), levels)
    slopes = torch.autograd.grad(loss, list(weights.values()), create_graph=keep)
    return {name: weight - RATE * slope for (name, weight), slope in zip(weights.items(), slopes)}


model = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for turn in range(250):
    total = 0.0
    for _ in range(4):
        hours, levels = readings()
        known_hours, known_levels = hours[:5], levels[:5]
        asked_hours, asked_levels = hours[5:], levels[5:]
        weights = adapt(model, known_hours, known_levels)
        said = functional_call(model, weights, (known_hours,))
        total = total + nn.functional.mse_loss(said, known_levels)
    optimizer.zero_grad()
    (total / 4).backward()
    optimizer.step()
errors = []
for _ in range(100):
    hours, levels = readings(55)
    weights = adapt(model, hours[:5], levels[:5], keep=False)
    errors.append(nn.functional.mse_loss(functional_call(model, weights, (hours[5:],)), levels[5:]).item())
print(f"loss {total.item() / 4:.4f} error on new islands {sum(errors) / 100:.4f}")
