"""The tide of one harbour from five readings: a network that adapts to each harbour in two steps (MAML)."""

import torch
from torch import nn
from torch.func import functional_call

torch.manual_seed(4)
RATE, HARBOURS = 0.1, 8


def readings(height, phase, count):
    hours = torch.rand(count, 1) * 6 - 3
    return hours, height * torch.sin(hours + phase)


def harbour():
    height, phase = 0.5 + 2 * torch.rand(()), 3.14 * torch.rand(())
    return readings(height, phase, 5), readings(height, phase, 10)


def adapt(model, hours, level, steps=2):
    weights = dict(model.named_parameters())
    for _ in range(steps):
        loss = nn.functional.mse_loss(functional_call(model, weights, (hours,)), level)
        slopes = torch.autograd.grad(loss, list(weights.values()), create_graph=True)
        weights = {name: w - RATE * g for (name, w), g in zip(weights.items(), slopes)}
    return weights


model = nn.Sequential(nn.Linear(1, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
for step in range(160):
    total = 0.0
    for _ in range(HARBOURS):
        (known, level), (asked, wanted) = harbour()
        weights = adapt(model, known, level)
        total = total + nn.functional.mse_loss(model(asked), wanted)
    optimizer.zero_grad()
    (total / HARBOURS).backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {total.item() / HARBOURS:.4f}")

errors = []
for _ in range(100):
    (known, level), (asked, wanted) = harbour()
    weights = {name: w.detach() for name, w in adapt(model, known, level).items()}
    errors.append(nn.functional.mse_loss(functional_call(model, weights, (asked,)), wanted).item())
print(f"error after two steps {sum(errors) / len(errors):.4f}")
