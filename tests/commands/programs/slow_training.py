import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
n = int(sys.argv[1]) if len(sys.argv) > 1 else 400
bad_at = int(sys.argv[2]) if len(sys.argv) > 2 else -1
x = torch.rand(4096, 16) + .1
if bad_at >= 0:
    x[(bad_at*16) % 4096 + 3, 5] = -1.0
y = (x.sum(1) > 9.6).long()
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(16, 64); self.fc2 = nn.Linear(64, 64); self.head = nn.Linear(64, 2)
    def forward(self, x):
        x = torch.log(x)
        x = torch.relu(self.fc1(x)); x = torch.relu(self.fc2(x))
        return self.head(x)
net = Net(); opt = torch.optim.Adam(net.parameters(), 1e-3)
step = 0
while step < n:
    for a, b in DataLoader(TensorDataset(x, y), batch_size=16):
        loss = nn.functional.cross_entropy(net(a), b)
        opt.zero_grad(); loss.backward(); opt.step()
        step += 1; time.sleep(0.05)
        if step >= n: break
