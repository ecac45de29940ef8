"""Empty parameters, a parameter without a gradient, a frozen layer, an optimizer with an empty group added later, zero-size batches."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.ModuleDict({"used": nn.Linear(3, 2), "unused": nn.Linear(3, 2), "frozen": nn.Linear(2, 2)})
model["used"].register_parameter("empty", nn.Parameter(torch.empty(0, 3)))
for p in model["frozen"].parameters():
    p.requires_grad_(False)
optimizer = torch.optim.AdamW(list(model["used"].parameters()), lr=1e-2)
optimizer.add_param_group({"params": list(model["unused"].parameters()), "lr": 0.0})
for size in (4, 0, 2):
    out = model["frozen"](model["used"](torch.randn(size, 3)))
    loss = out.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(size, loss.item().hex(), model["used"].empty.grad, model["unused"].weight.grad)
