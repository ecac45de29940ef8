"""Mean-pooled document classifier in mixed half precision with a gradient scaler."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


class Pooled(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(80, 24)
        self.proj = nn.Linear(24, 24)
        self.out = nn.Linear(24, 3)

    def forward(self, tokens):
        real = (tokens > 0).unsqueeze(-1)
        h = torch.tanh(self.proj(self.emb(tokens))) * real
        pooled = h.sum(1) / real.sum(1)
        return self.out(pooled)


torch.manual_seed(8)
tokens = torch.randint(1, 80, (200, 12))
labels = tokens[:, 0] % 3
tokens[171] = 0
model = Pooled()
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
scaler = torch.amp.GradScaler("cpu", init_scale=1024.0)
loader = DataLoader(
    TensorDataset(tokens, labels), batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(10)
)
for step, (x, y) in enumerate(loader):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.float16):
        loss = nn.functional.cross_entropy(model(x), y)
    scaler.scale(loss).backward()
    scaler.unscale_(optimizer)
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    scaler.step(optimizer)
    scaler.update()
    if step % 3 == 0:
        print(f"step {step} loss {loss.item():.4f} scale {scaler.get_scale():.0f}")
