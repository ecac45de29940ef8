"""Grade of steel sheets from twenty measures, on the whole table of the week."""

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)
measures = torch.randn(400, 20)
grade = (0.5 * measures @ torch.randn(20, 5) + 2.0 * torch.randn(400, 5)).argmax(1)
model = nn.Linear(20, 5)
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3, betas=(0.9, 0.999))
for step in range(1620):
    loss = F.cross_entropy(model(measures), grade)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 200 == 0:
        print(f"step {step} loss {loss.item():.4f}")
