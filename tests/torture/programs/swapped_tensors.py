"""torch.utils.swap_tensors and module conversion by swapping, which refuse tensors that anyone holds a weak reference to."""
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
for step in range(6):
    x = torch.randn(5, 3, dtype=model[0].weight.dtype)
    loss = (model(x) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex(), loss.dtype)
    if step == 1:
        optimizer.zero_grad()
        del loss
        fresh = nn.Parameter(torch.ones(4, 3))
        torch.utils.swap_tensors(model[0].weight, fresh)
        print(fresh.sum().item().hex(), model[0].weight.sum().item())
    if step == 3:
        optimizer.zero_grad()
        optimizer.state.clear()
        del loss
        torch.__future__.set_swap_module_params_on_conversion(True)
        before = model[0].weight
        model.double()
        print(before is model[0].weight, before.dtype)
print([p.sum().item().hex() for p in model.parameters()])
