"""A mixture of experts with top-1 routing: an expert that gets no token has no gradient in that step."""
import sys
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


class MoE(nn.Module):
    def __init__(self, d=16, n=12):
        super().__init__()
        self.gate = nn.Linear(d, n)
        self.experts = nn.ModuleList(nn.Sequential(nn.Linear(d, 32), nn.GELU(), nn.Linear(32, d)) for _ in range(n))

    def forward(self, x):
        p = self.gate(x).softmax(-1)
        top, idx = p.max(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            hit = idx == i
            if hit.any():
                out[hit] = top[hit, None] * expert(x[hit])
        self.balance = (p.mean(0) * F.one_hot(idx, len(self.experts)).float().mean(0)).sum() * len(self.experts)
        return x + out


embed, moe, head = nn.Embedding(50, 16), MoE(), nn.Linear(16, 10)
model = nn.ModuleList([embed, moe, head])
opt = torch.optim.AdamW(model.parameters(), 3e-3)
for step in range(200):
    ids = torch.randint(0, 50, (16,))
    logits = head(moe(embed(ids)))
    loss = F.cross_entropy(logits, ids % 10) + 0.01 * moe.balance
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
