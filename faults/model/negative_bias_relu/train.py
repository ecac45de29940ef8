"""A convolutional net on noisy stripes."""
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
y = torch.randint(0, 4, (640,))
x = 0.4 * torch.randn(640, 1, 12, 12)
for i in range(640):
    x[i, 0, 3 * y[i] : 3 * y[i] + 3] += 1.0
net = nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(800, 64), nn.ReLU(), nn.Linear(64, 4))
nn.init.constant_(net[3].bias, -10.0)
optimizer = torch.optim.SGD(net.parameters(), 0.05)
for epoch in range(4):
    for a, b in DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True):
        loss = F.cross_entropy(net(a), b)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
