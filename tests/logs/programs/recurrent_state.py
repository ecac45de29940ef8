import torch
from torch import nn

torch.manual_seed(0)
layer = nn.GRU(3, 8, batch_first=True)
head = nn.Linear(8, 1)
optimizer = torch.optim.SGD([*layer.parameters(), *head.parameters()], lr=0.1)
state = torch.zeros(1, 16, 8)
for x in torch.randn(40, 5, 3).split(16):
    _, last = layer(x, state)
    loss = head(last[0]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"loss {loss.item():.4f}")
