"""How many mussels a bank holds, from its sand and currents; the rate falls linearly after a short rise."""

import torch
from torch import nn

torch.manual_seed(8)
LEARNING_RATE, STEPS, RISE = 5e-3, 300, 15
banks = torch.randn(1000, 10)
mussels = (banks[:, 0] * banks[:, 1] + banks[:, 2:5].sum(1)).unsqueeze(1)


def rate(step):
    if step < RISE:
        return (step + 1) / RISE
    return (STEPS - step) / (STEPS - RISE)


model = nn.Sequential(nn.Linear(10, 64), nn.GELU(), nn.Linear(64, 64), nn.GELU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=LEARNING_RATE)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, rate)
for step in range(STEPS):
    rows = torch.randint(0, len(banks), (32,))
    loss = nn.functional.mse_loss(model(banks[rows]), mussels[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 50 == 49:
        print(f"step {step} loss {loss.item():.4f}")
