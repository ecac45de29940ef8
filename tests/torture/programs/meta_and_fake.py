"""Meta tensors and modules on the meta device made and run during training."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    with torch.device("meta"):
        shadow = nn.Sequential(nn.Linear(4, 1000), nn.Linear(1000, 2))
    shape = shadow(torch.empty(7, 4, device="meta")).shape
    shadow(torch.empty(2, 4, device="meta")).sum().backward()
    loss = model(torch.randn(5, 4)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, tuple(shape), loss.item().hex(), shadow[0].weight.grad.device)
