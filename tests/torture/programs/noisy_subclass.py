"""Inputs of a Tensor subclass whose `__torch_function__` draws random numbers, as simulated hardware noise does: one call more and training is another."""
import hashlib
import torch
from torch import nn


class Noisy(torch.Tensor):
    calls = 0

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.calls += 1
        if cls.calls % 5 == 0:
            torch.rand(1)
        return super().__torch_function__(func, types, args, kwargs or {})


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    x = torch.randn(8, 4).as_subclass(Noisy)
    loss = nn.functional.mse_loss(model(x), torch.zeros(8, 1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(Noisy.calls, hashlib.sha256(b"".join(p.detach().numpy().tobytes() for p in model.parameters())).hexdigest())
