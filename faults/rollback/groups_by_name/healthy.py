"""A tower of equal layers, saved and continued."""

import io

import torch
import torch.nn as nn

torch.manual_seed(17)


class Tower(nn.Module):
    def __init__(self):
        super().__init__()
        self.inlet = nn.Linear(8, 8)
        self.body = nn.Linear(8, 8)
        self.outlet = nn.Linear(8, 8)

    def forward(self, x):
        return self.outlet(torch.tanh(self.body(torch.tanh(self.inlet(x)))))


def run(model, optimizer, first, last):
    for step in range(first, last):
        x = torch.randn(32, 8, generator=torch.Generator().manual_seed(step))
        loss = nn.functional.mse_loss(model(x), x.flip(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"step {last} loss {loss.item():.4f}")


model = Tower()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
run(model, optimizer, 0, 50)
file = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": 50}, file)
file.seek(0)
state = torch.load(file)
model = Tower()
model.load_state_dict(state["model"])
parts = [model.inlet, model.body, model.outlet]
optimizer = torch.optim.Adam([p for part in parts for p in part.parameters()], lr=5e-3)
optimizer.load_state_dict(state["optimizer"])
run(model, optimizer, state["step"], 100)
