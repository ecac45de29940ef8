"""Language model on one long stream; the state goes on from chunk to chunk."""

import torch
import torch.nn as nn

torch.manual_seed(7)
stream = torch.randint(0, 30, (8, 400))
embed, cell, head = nn.Embedding(30, 16), nn.GRU(16, 32, batch_first=True), nn.Linear(32, 30)
parameters = [*embed.parameters(), *cell.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(parameters, lr=3e-3)
state = None
for step in range(12):
    chunk = stream[:, step * 20 : step * 20 + 21]
    out, state = cell(embed(chunk[:, :-1]), state)
    loss = nn.functional.cross_entropy(head(out).flatten(0, 1), chunk[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
