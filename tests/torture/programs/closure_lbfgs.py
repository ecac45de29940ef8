"""LBFGS: one step() calls the closure many times, each with its own backward, with a line search inside."""
import torch
from torch import nn

torch.manual_seed(0)
x = torch.linspace(-2, 2, 40)[:, None]
y = torch.sin(2 * x)
model = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
optimizer = torch.optim.LBFGS(model.parameters(), lr=0.5, max_iter=6, history_size=4, line_search_fn="strong_wolfe")
calls = 0


def closure():
    global calls
    calls += 1
    optimizer.zero_grad()
    loss = (model(x) - y).pow(2).mean()
    loss.backward()
    return loss


for step in range(4):
    first = optimizer.step(closure)
    print(step, type(first).__name__, first.item().hex(), calls)
state = optimizer.state[model[0].weight]
print(sorted(state), state["n_iter"], state["func_evals"], [p.double().sum().item().hex() for p in model.parameters()])
