"""Modules whose __getattr__ or properties raise strange errors, with __slots__, __dir__, and outputs that are None, dataclass, generator, class."""
import dataclasses

import torch
from torch import nn


@dataclasses.dataclass
class Out:
    loss: torch.Tensor | None = None
    logits: torch.Tensor | None = None
    extra: object = None


class Guarded(nn.Linear):
    __slots__ = ("secret",)

    def __getattr__(self, name):
        if name.startswith("_forward") or name in ("weight", "bias", "training"):
            return super().__getattr__(name)
        raise KeyError(f"no {name} here")

    @property
    def device(self):
        raise RuntimeError("do not look")

    def __dir__(self):
        raise RuntimeError("no dir")

    def __repr__(self):
        raise RuntimeError("no repr")

    def __str__(self):
        raise RuntimeError("no str")


class Silent(nn.Module):
    def forward(self):
        return None


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.silent, self.calls = Guarded(3, 2), Silent(), 0

    def forward(self, x=None, *, kind="data"):
        self.calls += 1
        if x is None:
            return self.silent()
        h = self.layer(x)
        loss = h.pow(2).mean()
        by_name = {"loss": loss, 3: h, None: None}
        return {"data": Out(loss, h, self), "dict": by_name, "many": iter([loss, h]), "type": (Out, loss), "self": [loss, [h, [h]]]}[kind]


torch.manual_seed(0)
model = Model()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step, kind in enumerate(["data", "dict", "many", "type", "self", "data"]):
    out = model(torch.randn(4, 3), kind=kind)
    loss = {"data": lambda out: out.loss, "dict": lambda out: out["loss"], "many": next, "type": lambda out: out[1], "self": lambda out: out[0]}[kind](out)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, kind, loss.item().hex(), model())
try:
    model.layer.nothing  # noqa: B018
except KeyError as error:
    print(error, model.calls, hasattr(model.silent, "x"))
