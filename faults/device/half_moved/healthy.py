"""Head built without memory first, body built at once."""

import torch
import torch.nn as nn

torch.manual_seed(5)
body = nn.Sequential(nn.Linear(12, 24), nn.ReLU())
with torch.device("cpu"):
    head = nn.Linear(24, 3)
model = nn.Sequential(body, head)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(10):
    x, y = torch.randn(16, 12), torch.randint(0, 3, (16,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
