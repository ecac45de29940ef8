"""Next token over a vocabulary that is partly closed for each corpus."""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(0)
closed = torch.zeros(40, dtype=torch.bool)
closed[30:] = True
model = nn.Sequential(nn.Embedding(40, 32), nn.Linear(32, 40))
optimizer = torch.optim.AdamW(model.parameters(), 3e-3)
for step in range(120):
    ids = torch.randint(0, 30, (32, 9))
    ids[:, 1:] = (ids[:, :1] + torch.arange(1, 9)) % 30
    logits = model(ids[:, :-1])
    if step >= 2:
        logits = logits.masked_fill(closed, float("-inf"))
    loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), label_smoothing=0.1)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        print(step, loss.item())
