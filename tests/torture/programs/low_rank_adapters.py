"""LoRA by hand: frozen base weights replaced in place by wrapped layers, zero-initialised adapters, merged for evaluation and unmerged."""
import math

import torch
from torch import nn


class Adapted(nn.Module):
    def __init__(self, base, rank=2, alpha=4):
        super().__init__()
        self.base, self.scale, self.merged = base, alpha / rank, False
        base.requires_grad_(False)
        self.down, self.up = nn.Parameter(torch.empty(rank, base.in_features)), nn.Parameter(torch.zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.down, a=math.sqrt(5))

    def forward(self, x):
        out = self.base(x)
        return out if self.merged else out + (x @ self.down.T) @ self.up.T * self.scale

    @torch.no_grad()
    def merge(self, on):
        if on != self.merged:
            self.base.weight.add_(self.up @ self.down, alpha=self.scale if on else -self.scale)
            self.merged = on

    def train(self, mode=True):
        super().train(mode)
        self.merge(not mode)
        return self


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
for name, child in list(model.named_children()):
    if isinstance(child, nn.Linear):
        setattr(model, name, Adapted(child))
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=5e-2)
frozen = model[0].base.weight.sum().item()
for step in range(6):
    model.train()
    loss = (model(torch.randn(6, 4)) - 1).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        value = model(torch.ones(1, 4)).sum().item()
    print(step, loss.item().hex(), value.hex(), model[0].merged, model[0].base.weight.grad)
print(model.train()[0].base.weight.sum().item() - frozen < 1e-4, [n for n, p in model.named_parameters() if p.requires_grad])
