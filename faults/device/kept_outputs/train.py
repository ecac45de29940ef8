"""Embeds small pictures; the codes of each batch are collected for a plot at the end."""

import torch
import torch.nn as nn

torch.manual_seed(43)
pictures = torch.randn(640, 64) @ torch.randn(64, 64) / 8
encoder = nn.Linear(64, 1024)
decoder = nn.Linear(1024, 64)
optimizer = torch.optim.SGD([*encoder.parameters(), *decoder.parameters()], lr=0.05)
codes = []
for step in range(420):
    rows = torch.randint(0, 640, (32,))
    code = torch.tanh(encoder(pictures[rows]))
    loss = nn.functional.mse_loss(decoder(code), pictures[rows])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    codes.append(code.detach())
    if step % 60 == 59:
        print(f"step {step} loss {loss.item():.4f} spread {codes[-1].std().item():.3f}")
