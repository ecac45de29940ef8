"""GradScaler on the CPU with autocast in float16 and bfloat16: overflows skipped, unscale by hand, nested and disabled autocast regions."""
import torch
from torch import nn

for kind in (torch.float16, torch.bfloat16):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0 ** 14, growth_interval=2, enabled=kind is torch.float16)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.05, total_steps=8)
    for step in range(7):
        x = torch.randn(6, 4)
        with torch.autocast("cpu", dtype=kind):
            out = model(x)
            with torch.autocast("cpu", enabled=False):
                loss = (out.float() - 1).pow(2).mean() * (1e36 if step == 3 and kind is torch.float16 else 1)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        before = scaler.get_scale()
        scaler.step(optimizer)
        scaler.update()
        if scaler.get_scale() >= before:
            scheduler.step()
        print(kind, step, loss.item().hex(), norm.item(), scaler.get_scale(), out.dtype, torch.is_autocast_enabled("cpu"))
    print(scaler.state_dict(), [p.double().sum().item().hex() for p in model.parameters()])
