"""autograd.grad with create_graph (gradient penalty), retain_graph, two backward calls on one graph, a Hessian-vector product."""
import torch
from torch import nn

torch.manual_seed(0)
critic = nn.Sequential(nn.Linear(3, 8), nn.Softplus(), nn.Linear(8, 1))
optimizer = torch.optim.Adam(critic.parameters(), lr=1e-2)
for step in range(4):
    x = torch.randn(5, 3, requires_grad=True)
    score = critic(x).sum()
    (slope,) = torch.autograd.grad(score, x, create_graph=True)
    penalty = (slope.norm(dim=1) - 1).pow(2).mean()
    (curved,) = torch.autograd.grad(slope.sum(), x, retain_graph=True)
    optimizer.zero_grad()
    score.backward(retain_graph=True)
    penalty.backward()
    optimizer.step()
    print(step, penalty.item().hex(), score.item().hex(), curved.abs().sum().item().hex(), x.grad.sum().item().hex())
