import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
x, y = torch.randn(64, 6), torch.randn(64, 1)
opt = torch.optim.SGD(net.parameters(), 3.0)
for step in range(14):
    loss = F.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 1e9)
    opt.step()
    print(f"step {step}: loss {loss.item():.4g} grad_norm {norm.item():.4g} lr {opt.param_groups[0]['lr']}")
