"""A small causal language model on fixed windows of text."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

VOCAB, LENGTH, WIDTH, HEADS = 61, 14, 32, 4


class Windows(Dataset):
    def __init__(self, n=96):
        g = torch.Generator().manual_seed(11)
        self.ids = torch.randint(1, VOCAB, (n, LENGTH + 1), generator=g)
        self.length = torch.full((n,), LENGTH - 2)
        self.length[24] = 0

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        keep = torch.arange(LENGTH) < self.length[i]
        return {"ids": self.ids[i, :-1], "targets": self.ids[i, 1:], "keep": keep}


def attention(q, k, v, keep):
    causal = torch.ones(q.shape[-2], q.shape[-2], dtype=torch.bool).tril()
    allowed = causal & keep[:, None, None, :]
    scores = (q @ k.transpose(-2, -1)) / math.sqrt(q.shape[-1])
    scores = scores.masked_fill(~allowed, float("-inf"))
    return torch.softmax(scores, dim=-1) @ v


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.o = nn.Linear(WIDTH, WIDTH)

    def forward(self, x, keep):
        b, t, _ = x.shape
        q, k, v = (part.view(b, t, HEADS, -1).transpose(1, 2) for part in self.qkv(x).chunk(3, dim=-1))
        y = attention(q, k, v, keep)
        return self.o(y.transpose(1, 2).reshape(b, t, WIDTH))


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.attn = Attention()
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))

    def forward(self, x, keep):
        x = x + self.attn(self.ln1(x), keep)
        return x + self.mlp(self.ln2(x))


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.pos = nn.Embedding(VOCAB, WIDTH), nn.Parameter(0.02 * torch.randn(LENGTH, WIDTH))
        self.blocks = nn.ModuleList([Block(), Block()])
        self.ln, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VOCAB)

    def forward(self, ids, keep):
        x = self.emb(ids) + self.pos
        for block in self.blocks:
            x = block(x, keep)
        x = self.ln(x)
        return self.head(x)


def loss_fn(logits, targets):
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


torch.manual_seed(0)
model = LM()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = DataLoader(Windows(), batch_size=8, shuffle=True, generator=torch.Generator().manual_seed(3))
for step, batch in enumerate(loader):
    optimizer.zero_grad()
    logits = model(batch["ids"], batch["keep"])
    loss = loss_fn(logits, batch["targets"])
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.4f}")
