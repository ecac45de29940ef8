"""Nested (jagged) tensors through layers, masked tensors and zero-dimensional batches in one loop."""
import warnings

import torch
from torch import nn

warnings.filterwarnings("ignore")
torch.manual_seed(0)
model, head = nn.Linear(4, 6), nn.Linear(6, 1)
optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.05)
for step in range(5):
    rows = [torch.randn(n, 4) for n in (2, 3 + step, 1)]
    jagged = torch.nested.nested_tensor(rows, layout=torch.jagged if step % 2 else torch.strided)
    h = model(jagged)
    loss = sum(head(part).pow(2).mean() for part in h.unbind())
    padded = torch.nested.to_padded_tensor(torch.nested.nested_tensor([r * 2 for r in rows]), 0.0)
    loss = loss + model(padded).mean() + model(torch.randn(4)).sum() * 0.1
    masked = torch.masked.as_masked_tensor(torch.ones(3), torch.tensor([True, False, True]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex(), jagged.layout, tuple(padded.shape), masked.sum().item())
print([p.double().sum().item().hex() for p in model.parameters()])
