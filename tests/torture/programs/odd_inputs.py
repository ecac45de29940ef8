"""Forward arguments that are None, bool, int, str, dict, tuple, keyword-only and **extra."""
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)

    def forward(self, batch, flag=True, times=1, name="x", extra=None, *, scale=None, pairs=(), **rest):
        h = batch["x"] * batch["keep"]
        for _ in range(times):
            h = self.a(h) if flag else h
        for left, right in pairs:
            h = h + left * right
        return {"out": h, "none": None, "flag": flag, "nested": [h.sum(), (name, rest.get("k"))]} if scale is None else h * scale


torch.manual_seed(0)
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    batch = {"x": torch.randn(3, 4), "keep": torch.tensor([[True], [False], [True]]), "ids": torch.arange(3), "text": ["a", "b", "c"], "nothing": None}
    out = model(batch, step % 2 == 0, step, name="y", pairs=[(torch.ones(4), 0.5)], k=None)
    loss = (out["out"] ** 2).mean() + model(batch, scale=2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, loss.item().hex(), out["none"], out["nested"][1])
