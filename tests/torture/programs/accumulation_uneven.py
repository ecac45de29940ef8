"""Gradient accumulation over four micro-batches with an uneven last group and a last batch of one row."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 6), nn.LayerNorm(6), nn.ReLU(), nn.Linear(6, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=6)
loader = DataLoader(TensorDataset(torch.randn(31, 4), torch.randint(0, 3, (31,))), batch_size=3, shuffle=True)
every, updates = 4, 0
for epoch in range(2):
    running = 0.0
    for i, (x, y) in enumerate(loader):
        left = len(loader) - len(loader) % every
        group = every if i < left else len(loader) % every
        loss = nn.functional.cross_entropy(model(x), y)
        (loss / group).backward()
        running += loss.item() * len(x)
        if (i + 1) % every == 0 or i + 1 == len(loader):
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            scheduler.step()
            updates += 1
            print(epoch, i, group, len(x), loss.item().hex(), norm.item().hex())
    print(epoch, updates, running.hex(), scheduler.get_last_lr()[0].hex())
