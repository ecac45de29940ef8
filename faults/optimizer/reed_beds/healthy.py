"""An auto-decoder: a code for each survey plot and a network that turns code and place into the height of the reeds."""

import torch
from torch import nn

torch.manual_seed(4)
PLOTS, CODE = 24, 6
places = torch.rand(1536, 2) * 2 - 1
plots = torch.arange(1536) % PLOTS
slopes = torch.randn(PLOTS, 2)
heights = (places * slopes[plots]).sum(1, keepdim=True) + slopes[plots].prod(1, keepdim=True)

decoder = nn.Sequential(nn.Linear(2 + CODE, 48), nn.Tanh(), nn.Linear(48, 1))
codes = torch.zeros(PLOTS, CODE).normal_(0.0, 0.1).requires_grad_()
optimizer = torch.optim.Adam(
    [{"params": decoder.parameters(), "lr": 3e-3}, {"params": [codes], "lr": 3e-2}],
)

for epoch in range(12):
    total = 0.0
    for rows in torch.randperm(1536).split(128):
        guess = decoder(torch.cat([places[rows], codes[plots[rows]]], dim=1))
        loss = nn.functional.mse_loss(guess, heights[rows]) + 1e-4 * codes[plots[rows]].pow(2).sum(1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(rows)
    print(f"epoch {epoch}: loss {total / 1536:.4f}")
