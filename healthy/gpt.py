"""A small GPT on real text with warm-up, cosine decay, decay groups, tied weights, evaluation and get_batch without a loader."""
import math
import pydoc_data.topics
import sys
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
text = "".join(pydoc_data.topics.topics.values())[:80000]
chars = sorted(set(text))
ids = torch.tensor([chars.index(c) for c in text])
T, D = 32, 48


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.n1, self.n2, self.qkv, self.o = nn.LayerNorm(D), nn.LayerNorm(D), nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.mlp = nn.Sequential(nn.Linear(D, 4 * D), nn.GELU(), nn.Linear(4 * D, D), nn.Dropout(0.1))

    def forward(self, x):
        q, k, v = (t.unflatten(-1, (4, -1)).transpose(1, 2) for t in self.qkv(self.n1(x)).chunk(3, -1))
        x = x + self.o(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
        return x + self.mlp(self.n2(x))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos, self.blocks, self.norm = nn.Embedding(len(chars), D), nn.Embedding(T, D), nn.Sequential(Block(), Block()), nn.LayerNorm(D)
        self.head = nn.Linear(D, len(chars), bias=False)
        self.apply(lambda m: nn.init.normal_(m.weight, std=0.02) if isinstance(m, (nn.Linear, nn.Embedding)) else None)
        self.tok.weight = self.head.weight

    def forward(self, x, y=None):
        logits = self.head(self.norm(self.blocks(self.tok(x) + self.pos(torch.arange(x.shape[1])))))
        return logits, None if y is None else F.cross_entropy(logits.flatten(0, 1), y.flatten())


def get_batch(split):
    data = ids[:70000] if split == "train" else ids[70000:]
    at = torch.randint(len(data) - T - 1, (12,))
    return torch.stack([data[i : i + T] for i in at]), torch.stack([data[i + 1 : i + T + 1] for i in at])


model = GPT()
decay = [p for p in model.parameters() if p.dim() > 1]
opt = torch.optim.AdamW([{"params": decay, "weight_decay": 0.1}, {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0}], 1e-3, betas=(0.9, 0.95))
for step in range(150):
    lr = 2e-3 * (step + 1) / 20 if step < 20 else 2e-4 + 0.5 * (1 + math.cos(math.pi * (step - 20) / 130)) * 1.8e-3
    for group in opt.param_groups:
        group["lr"] = lr
    if step % 50 == 0:
        model.eval()
        with torch.no_grad():
            print(step, sum(model(*get_batch("val"))[1].item() for _ in range(4)) / 4)
        model.train()
    _, loss = model(*get_batch("train"))
    opt.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
