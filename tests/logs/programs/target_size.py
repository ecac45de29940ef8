import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
x, y = torch.randn(16, 4), torch.randn(16)
opt = torch.optim.SGD(net.parameters(), 0.05)
for step in range(6):
    loss = nn.MSELoss()(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"Iter {step} | Loss: {loss.item():.5f}")
