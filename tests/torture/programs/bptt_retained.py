"""Backpropagation through all earlier chunks with retain_graph=True: the same graph is walked again and again before one update."""
import torch
from torch import nn

torch.manual_seed(0)
rnn, head = nn.GRU(3, 4, batch_first=True), nn.Linear(4, 1)
optimizer = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.05, momentum=0.9, nesterov=True)
for epoch in range(3):
    h, seen = None, []
    optimizer.zero_grad()
    for chunk in torch.randn(2, 12, 3).split(3, dim=1):
        out, h = rnn(chunk, h)
        loss = head(out).pow(2).mean()
        loss.backward(retain_graph=True)
        seen.append(loss.item().hex())
    optimizer.step()
    print(epoch, seen, rnn.weight_hh_l0.grad.double().sum().item().hex())
try:
    loss.backward()
except RuntimeError as error:
    print(type(error).__name__, "modified by an inplace operation" in str(error))
print([p.double().sum().item().hex() for p in rnn.parameters()])
