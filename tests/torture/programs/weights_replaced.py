"""Parameters replaced during training: .data assigned, set_, resize of a layer with a new optimizer, modules added and deleted, requires_grad toggled."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for step in range(9):
    if step == 1:
        model[0].weight.data = torch.randn(4, 4)
    if step == 2:
        with torch.no_grad():
            model[0].bias.set_(torch.zeros(4))
    if step == 3:
        model[2] = nn.Linear(4, 5)
        optimizer.param_groups[0]["params"] = list(model.parameters())
        optimizer.state.clear()
    if step == 4:
        model.append(nn.Linear(5, 5))
        optimizer.add_param_group({"params": model[3].parameters()})
    if step == 5:
        model[0].requires_grad_(False)
    if step == 6:
        del model[3]
        model[0].requires_grad_(True)
    if step == 7:
        model.add_module("extra", nn.Identity())
        model.double().float()
    if step == 8:
        model.to_empty(device="cpu")
        for p in model.parameters():
            nn.init.constant_(p, 0.1)
    loss = (model(torch.randn(6, 4)) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex(), len(optimizer.param_groups), [tuple(p.shape) for p in model.parameters()])
print([p.double().sum().item().hex() for p in model.parameters()])
