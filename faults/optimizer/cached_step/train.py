"""Weight of eggs from pictures of nests; the optimizer keeps its list of parameters from call to call."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(23)


class Cached(torch.optim.SGD):
    """Looks for the gradients again only when some were away."""

    kept = None

    def step(self, closure=None):
        held = [p for group in self.param_groups for p in group["params"]]
        if self.kept is None or any(p.grad is None for p in held):
            self.kept = [p for p in held if p.grad is not None]
        with torch.no_grad():
            for p in self.kept:
                p -= self.param_groups[0]["lr"] * p.grad


nests = torch.randn(640, 20)
weight = torch.tanh(nests @ torch.randn(20, 1) / 4)
loader = DataLoader(TensorDataset(nests, weight), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = Cached(model.parameters(), lr=0.02)
for epoch in range(4):
    for number, (nest, eggs) in enumerate(loader):
        optimizer.zero_grad()
        if not (epoch == 0 and number == 25):
            loss = nn.functional.mse_loss(model(nest), eggs)
            loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
