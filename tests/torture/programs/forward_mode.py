"""Forward-mode gradients: dual numbers through modules, an update from a random directional derivative alone, no backward in the program."""
import torch
import torch.autograd.forward_ad as fwd
from torch import nn
from torch.func import functional_call

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(6):
    x = torch.randn(6, 3)
    directions = {name: torch.randn_like(p) for name, p in model.named_parameters()}
    with fwd.dual_level():
        duals = {name: fwd.make_dual(p.detach(), directions[name]) for name, p in model.named_parameters()}
        loss, slope = fwd.unpack_dual((functional_call(model, duals, (x,)) - 1).pow(2).mean())
    for name, p in model.named_parameters():
        p.grad = directions[name] * slope
    optimizer.step()
    optimizer.zero_grad()
    print(step, loss.item().hex(), slope.item().hex())
print([p.double().sum().item().hex() for p in model.parameters()])
