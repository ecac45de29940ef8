"""torch.func.grad, vmap, functional_call and jacrev inside the training loop."""
import torch
from torch import nn
from torch.func import functional_call, grad, jacrev, vmap

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(3, 5), nn.Tanh(), nn.Linear(5, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def sample_loss(params, x, y):
    return (functional_call(model, params, (x[None],)).squeeze() - y) ** 2


for step in range(4):
    x, y = torch.randn(6, 3), torch.randn(6)
    params = {name: p.detach() for name, p in model.named_parameters()}
    per_sample = vmap(grad(sample_loss), in_dims=(None, 0, 0))(params, x, y)
    norms = sum(g.flatten(1).pow(2).sum(1) for g in per_sample.values()).sqrt()
    jacobian = jacrev(lambda v, params=params: functional_call(model, params, (v,)).sum())(x)
    loss = (model(x).squeeze(1) - y).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex(), norms.max().item().hex(), tuple(jacobian.shape))
