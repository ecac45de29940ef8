"""Truncated backpropagation through time: the hidden state is detached between chunks and lives longer than a step."""
import torch
from torch import nn

torch.manual_seed(0)
cell, head = nn.LSTMCell(3, 5), nn.Linear(5, 2)
params = [*cell.parameters(), *head.parameters()]
optimizer = torch.optim.RMSprop(params, lr=0.01)
hidden = (torch.zeros(4, 5), torch.zeros(4, 5))
stream = torch.randn(24, 4, 3)
losses = []
for t, x in enumerate(stream):
    hidden = cell(x, hidden)
    losses.append(head(hidden[0]).pow(2).mean())
    if t % 5 == 4:
        loss = torch.stack(losses).sum()
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(params, 0.5)
        optimizer.step()
        hidden = tuple(h.detach_() for h in hidden)
        losses.clear()
        print(t, loss.item().hex(), norm.item().hex(), hidden[0].is_leaf)
print(len(losses), hidden[1].sum().item().hex(), sum(p.double().sum().item() for p in params).hex())
