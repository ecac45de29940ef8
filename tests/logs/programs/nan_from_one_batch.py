import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
from torch.utils.data import DataLoader, TensorDataset

x = torch.randn(640, 6)
y = x @ torch.randn(6, 1)
x[500, 2] = float("nan")
net = nn.Linear(6, 1)
opt = torch.optim.SGD(net.parameters(), 0.05)
for step, (a, b) in enumerate(DataLoader(TensorDataset(x, y), batch_size=16)):
    loss = F.mse_loss(net(a), b)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print({"loss": round(loss.item(), 4), "learning_rate": 0.05, "step": step})
