"""Whether a lot of fish is sold above the usual price, from its harbour, kind, boat and weekday."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(17)
SIZES = [12, 40, 90, 7]  # harbours, kinds, boats, weekdays
lots = torch.stack([torch.randint(size, (4000,)) for size in SIZES], 1)
effects = [torch.randn(size) for size in SIZES]
pairs = torch.randn(12, 7)
score = sum(effect[lots[:, field]] for field, effect in enumerate(effects)) + 1.5 * pairs[lots[:, 0], lots[:, 3]]
above = (score + 0.3 * torch.randn(4000) > 0).float()


class Factors(nn.Module):
    """A factorisation machine: all fields in one table."""

    def __init__(self, sizes, width):
        super().__init__()
        self.register_buffer("offsets", torch.tensor([0, *sizes[:-1]]).cumsum(0))
        self.linear = nn.Embedding(sum(sizes), 1)
        self.factors = nn.Embedding(sum(sizes), width)
        self.bias = nn.Parameter(torch.zeros(1))
        nn.init.normal_(self.factors.weight, std=0.1)

    def forward(self, fields):
        rows = fields + self.offsets
        single = self.linear(rows).sum((1, 2))
        vectors = self.factors(rows)
        both = (vectors.sum(1) ** 2 - (vectors**2).sum(1)).sum(1) / 2
        return self.bias + single + both


train, test = TensorDataset(lots[:3200], above[:3200]), (lots[3200:], above[3200:])
model = Factors(SIZES, 8)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(8):
    for fields, sold in DataLoader(train, batch_size=64, shuffle=True):
        loss = nn.functional.binary_cross_entropy_with_logits(model(fields), sold)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = ((model(test[0]) > 0) == (test[1] > 0)).float().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} right {right:.3f}")
