"""Learns what a parcel costs from the port it leaves and the port it goes to, and checks that on other parcels."""

import random

import torch
from torch import nn

draw = random.Random(4)
PORTS = [f"port-{n}" for n in range(40)]
RATES = {port: draw.uniform(-2.0, 2.0) for port in PORTS}


def journeys(count):
    pairs = [(draw.choice(PORTS), draw.choice(PORTS)) for _ in range(count)]
    return [(a, b, RATES[a] - RATES[b] + draw.gauss(0.0, 0.1)) for a, b in pairs]


class Parcels:
    def __init__(self, rows, ports=None):
        self.ports = ports
        if ports is None:
            self.ports = {}
            for row in rows:
                for port in row[:2]:
                    self.ports.setdefault(port, len(self.ports))
        self.ends = torch.tensor([[self.ports[a], self.ports[b]] for a, b, _ in rows])
        self.costs = torch.tensor([cost for _, _, cost in rows])

    def batches(self, size):
        order = torch.randperm(len(self.costs))
        for at in order.split(size):
            yield self.ends[at], self.costs[at]


class Tariff(nn.Module):
    def __init__(self, ports):
        super().__init__()
        self.left = nn.Embedding(ports, 1)
        self.reached = nn.Embedding(ports, 1)

    def forward(self, ends):
        return (self.left(ends[:, 0]) + self.reached(ends[:, 1])).squeeze(1)


torch.manual_seed(0)
known = Parcels(journeys(1200))
checked = Parcels(journeys(300), known.ports)
model = Tariff(len(known.ports))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
for epoch in range(12):
    for ends, costs in known.batches(100):
        loss = nn.functional.mse_loss(model(ends), costs)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        error = nn.functional.mse_loss(model(checked.ends), checked.costs)
    print(f"epoch {epoch} loss {loss.item():.3f} checked {error.item():.3f}")
