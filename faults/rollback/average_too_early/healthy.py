"""Keeps an average of the weights beside the model and saves both."""

import io

import torch
import torch.nn as nn

torch.manual_seed(19)

model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
average = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
sums = [torch.zeros_like(p) for p in model.parameters()]
count, since = 0, 10
file = io.BytesIO()
for step in range(60):
    x, y = torch.randn(32, 6), torch.randint(0, 2, (32,))
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        if step >= since:
            count += 1
            for total, p in zip(sums, model.parameters()):
                total += p
        if step % 20 == 19:
            for mean, total in zip(average.parameters(), sums):
                mean.copy_(total / count)
            torch.save({"model": model.state_dict(), "average": average.state_dict()}, file)
            print(f"step {step} loss {loss.item():.4f}")
