"""Transformer on daily climate fields with the library's fused attention."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset


class Attention(nn.Module):
    def __init__(self, width, heads=2):
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x):
        b, t, d = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).reshape(b, t, d))


class Field(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.attn = Attention(width)
        self.norm = nn.LayerNorm(width)
        self.out = nn.Linear(width, 1)

    def forward(self, x):
        return self.out(self.norm(x + self.attn(x))).squeeze(-1)


torch.manual_seed(15)
fields = torch.randn(128, 10, 16)
target = fields.mean(-1)
fields[64, 4] = 1e20
model = Field()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
loader = DataLoader(TensorDataset(fields, target), batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(17))
for step, (x, y) in enumerate(loader):
    loss = F.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
