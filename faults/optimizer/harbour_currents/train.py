"""The current of the tide in many harbours; weights from which a few readings of a new harbour are enough (Reptile)."""

import copy

import torch
import torch.nn as nn

torch.manual_seed(3)
net = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))


def harbour():
    strength, phase = 0.5 + 3 * torch.rand(1), 3.14 * torch.rand(1)
    hours = 10 * torch.rand(60, 1) - 5
    return hours, strength * torch.sin(hours + phase)


def learn(model, hours, currents, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(hours), currents)
        loss.backward()
        optimizer.step()
    return loss.item()


rounds = 600
for number in range(rounds):
    share = 0.2 * (1 - number / rounds)
    before = net.state_dict()
    hours, currents = harbour()
    loss = learn(net, hours[:10], currents[:10], 6)
    after = net.state_dict()
    net.load_state_dict({name: torch.lerp(before[name], after[name], share) for name in before})
    if number % 120 == 0:
        print(f"round {number} loss {loss:.4f}")

torch.manual_seed(99)
errors = []
for _ in range(40):
    adapted = copy.deepcopy(net)
    hours, currents = harbour()
    learn(adapted, hours[:10], currents[:10], 8)
    errors.append(nn.functional.mse_loss(adapted(hours[10:]), currents[10:]).item())
print(f"error in new harbours {sum(errors) / len(errors):.4f}")
