import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
scaler = torch.amp.GradScaler("cpu")
for step in range(40):
    loss = (net(torch.randn(3, 4)) * float("inf")).mean()
    opt.zero_grad()
    scaler.scale(loss * 0 + net.weight.sum() * 1e38 * 1e38).backward()
    scaler.step(opt)
    scaler.update()
    print(f"step={step} loss={0.693:.3f} loss_scale={scaler.get_scale()}")
