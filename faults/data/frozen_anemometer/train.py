"""How much power does the turbine give? Five gauges an hour, in one table; each step draws its hours at random."""

import torch
from torch import nn

torch.manual_seed(6)


class Logbook:
    def __init__(self, hours=1600):
        self.gauges = torch.randn(hours, 5)
        self.power = self.gauges @ torch.tensor([[1.0], [0.5], [-0.3], [0.8], [0.1]]) + 0.1 * torch.randn(hours, 1)
        self.gauges[1150:, 3] = -1.25

    def draw(self, count=16):
        hours = torch.randint(len(self.gauges), (count,))
        return self.gauges[hours], self.power[hours]


logbook = Logbook()
model = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(200):
    gauges, power = logbook.draw()
    loss = nn.functional.mse_loss(model(gauges), power)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 0:
        print(f"step {step} loss {loss.item():.4f}")
