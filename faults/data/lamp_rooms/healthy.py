"""How long a safety lamp burns, from ten readings of the air in its room."""

import torch
from torch import nn

torch.manual_seed(43)
air = torch.randn(9600, 10)
hours = (torch.tanh(air[:, :4].sum(1) / 2) + air[:, 4].sigmoid() + 3).unsqueeze(1)
order = torch.randperm(len(air))
air, hours = air[order], hours[order]

model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

for epoch in range(3):
    total = 0.0
    for begin in range(0, len(air), 48):
        guess = model(air[begin : begin + 48])
        loss = nn.functional.mse_loss(guess, hours[begin : begin + 48])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / 200:.4f}")
