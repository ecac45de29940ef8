"""Takes the noise out of short recordings; the gradient is kept short."""

import torch
import torch.nn as nn

torch.manual_seed(31)
clean = torch.randn(640, 4) @ torch.randn(4, 16)
model = nn.Sequential(nn.Linear(16, 24), nn.Tanh(), nn.Linear(24, 16))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(560):
    rows = torch.randint(0, 640, (32,))
    loss = nn.functional.mse_loss(model(clean[rows] + 0.3 * torch.randn(32, 16)), clean[rows])
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.01)
    optimizer.step()
    if step % 80 == 79:
        print(f"step {step} loss {loss.item():.4f}")
