"""How much rain falls at a gauge tomorrow, and how sure that is."""

import torch
from torch import nn

torch.manual_seed(12)
weather = torch.randn(1200, 6)
rain = (weather[:, 0] - 0.5 * weather[:, 1]).clamp_min(0) + 0.3 * torch.rand(1200)


class Forecast(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(6, 32), nn.Tanh())
        self.amount, self.spread = nn.Linear(32, 1), nn.Linear(32, 1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        h = self.body(x)
        variance = nn.functional.softplus(self.spread(h)).squeeze(-1)
        return self.amount(h).squeeze(-1), variance


def unlikely(amount: torch.Tensor, variance: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return 0.5 * (torch.log(variance) + (target - amount) ** 2 / variance).mean()


model = Forecast()
with torch.no_grad():
    model.spread.bias.fill_(1.5)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(300):
    rows = torch.randint(0, len(weather), (64,))
    loss = unlikely(*model(weather[rows]), rain[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 50 == 49:
        print(f"step {step} loss {loss.item():.4f}")
