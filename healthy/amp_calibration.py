"""Half-precision autocast on the CPU with a scaler that starts far too high: the first steps are skipped until the scale fits."""
import sys
import torch
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
model = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 1))
opt = torch.optim.AdamW(model.parameters(), 2e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24, growth_interval=50)
for step in range(200):
    x = torch.randn(32, 16)
    y = x[:, :4].sum(1, keepdim=True)
    opt.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        out = model(x)
    loss = ((out.float() - y) ** 2).mean()
    scaler.scale(loss).backward()
    scaler.unscale_(opt)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(opt)
    scaler.update()
print(loss.item(), scaler.get_scale())
