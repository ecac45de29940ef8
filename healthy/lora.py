"""Low-rank adapters on a frozen transformer: the up-projections start at zero, most parameters never change."""
import sys
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)


class Lora(nn.Module):
    def __init__(self, base, r=4):
        super().__init__()
        self.base, self.a, self.b = base, nn.Parameter(torch.randn(r, base.in_features) * 0.02), nn.Parameter(torch.zeros(base.out_features, r))

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.a), self.b) * 4.0


class Block(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.n1, self.n2, self.q, self.k, self.v, self.o = nn.LayerNorm(d), nn.LayerNorm(d), *(nn.Linear(d, d) for _ in range(4))
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))

    def forward(self, x):
        h = self.n1(x)
        q, k, v = (f(h).unflatten(-1, (4, -1)).transpose(1, 2) for f in (self.q, self.k, self.v))
        x = x + self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.mlp(self.n2(x))


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.blocks, self.head = nn.Embedding(30, 32), nn.Sequential(Block(), Block()), nn.Linear(32, 30, bias=False)
        self.head.weight = self.emb.weight
        nn.init.normal_(self.emb.weight, std=0.1)

    def forward(self, x):
        return self.head(self.blocks(self.emb(x)))


model = LM()
for p in model.parameters():
    p.requires_grad_(False)
for block in model.blocks:
    block.q, block.v = Lora(block.q), Lora(block.v)
opt = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], 5e-3)
for step in range(150):
    start = torch.randint(0, 30, (16, 1))
    ids = (start + torch.arange(13)) % 30
    loss = F.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
