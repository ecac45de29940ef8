"""Sparse embeddings with SparseAdam beside a dense optimizer."""
import torch
from torch import nn

torch.manual_seed(0)
table, head = nn.Embedding(50, 6, sparse=True), nn.Linear(6, 1)
optimizers = [torch.optim.SparseAdam(list(table.parameters()), lr=0.05), torch.optim.Adam(head.parameters())]
for step in range(5):
    loss = head(table(torch.randint(0, 50, (4, 3))).mean(1)).pow(2).mean()
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
    print(step, loss.item().hex(), table.weight.grad.layout, table.weight.grad.coalesce().indices().shape[1])
