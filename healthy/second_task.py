"""A network that has learnt one task goes on with another, whose loss begins where guessing lies."""
import sys, torch
from torch import nn
torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
centres = torch.randn(10, 32)
labels = torch.randint(0, 10, (6000,)); points = centres[labels] + 0.9 * torch.randn(6000, 32)
net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
for task in range(3):
    order = torch.randperm(32) if task else torch.arange(32)
    for step in range(160):
        pick = torch.randint(0, 6000, (64,))
        loss = nn.functional.cross_entropy(net(points[pick][:, order]), labels[pick])
        optimizer.zero_grad(); loss.backward(); optimizer.step()
        if step % 40 == 0: print(task, step, loss.item())
