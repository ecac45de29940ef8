"""An autoencoder of eight plain layers."""
import torch
from torch import nn

torch.manual_seed(0)
basis = torch.randn(3, 40)
layers = []
for i in range(7):
    linear = nn.Linear(40, 40)
    nn.init.normal_(linear.weight)
    layers += [linear, nn.ReLU()]
model = nn.Sequential(*layers, nn.Linear(40, 40))
optimizer = torch.optim.SGD(model.parameters(), 1e-2)
for step in range(60):
    x = torch.randn(32, 3) @ basis
    loss = ((model(x) - x) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if step % 20 == 0:
        print(step, loss.item())
