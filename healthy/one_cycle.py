"""One-cycle: the rate rises 25-fold and falls to almost nothing, momentum moves the other way."""
import sys
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
x = torch.randn(1280, 1, 12, 12)
y = (x[:, 0, :6].mean((1, 2)) > x[:, 0, 6:].mean((1, 2))).long()
model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(128, 2))
loader = DataLoader(TensorDataset(x, y), batch_size=32, shuffle=True, drop_last=True)
opt = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.2, epochs=6, steps_per_epoch=len(loader))
for epoch in range(6):
    model.train()
    for a, b in loader:
        loss = F.cross_entropy(model(a), b)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        sched.step()
    model.eval()
    with torch.no_grad():
        print(epoch, loss.item(), (model(x[:200]).argmax(1) == y[:200]).float().mean().item(), sched.get_last_lr())
