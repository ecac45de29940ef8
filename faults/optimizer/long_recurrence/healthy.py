"""A running total of signed events with a recurrence of our own; the sequences are 30 events long."""

import torch
import torch.nn as nn


class Tally(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.inward = nn.Linear(3, width)
        self.across = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, 1)
        nn.init.orthogonal_(self.across.weight)

    def forward(self, x):
        h = x.new_zeros(x.shape[0], self.across.in_features)
        for t in range(x.shape[1]):
            h = torch.relu(self.inward(x[:, t]) + self.across(h))
        return self.out(h).squeeze(1)


torch.manual_seed(3)
g = torch.Generator().manual_seed(4)
model = Tally()
optimizer = torch.optim.SGD(model.parameters(), lr=0.015, momentum=0.9)
for step in range(120):
    x = torch.randn(32, 30, 3, generator=g)
    y = 0.2 * x[:, :, 0].sum(1)
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 0.2)
    optimizer.step()
    if step % 10 == 0:
        print(f"step {step} mse {loss.item():.4f}")
