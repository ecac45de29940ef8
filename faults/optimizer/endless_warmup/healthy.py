"""Will a patient come back? Logistic regression on the whole table in every step, with a warm-up of 50 steps."""

import torch
import torch.nn as nn

torch.manual_seed(2)
x = 2.0 * torch.randn(200, 8)
y = (x[:, 0] + 0.5 * torch.randn(200) > 0).float()
model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=2.0)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 50))
for step in range(480):
    loss = nn.functional.binary_cross_entropy_with_logits(model(x)[:, 0], y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f} lr {scheduler.get_last_lr()[0]:.3g}")
