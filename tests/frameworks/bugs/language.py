"""A small transformer with hand-written attention, its data and its losses; one sample of the data is bad in one of four ways, or none is."""

import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import Dataset

BATCH, LENGTH, VOCABULARY, ROWS, BAD = 8, 6, 11, 96, 43


class Attention(nn.Module):
    def __init__(self, d, half):
        super().__init__()
        self.qkv, self.o = nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.half = half

    def forward(self, x, pad, scale):
        q, k, v = self.qkv(x).chunk(3, -1)
        q = q * scale[:, None, None]
        if self.half:
            q, k = q.to(torch.float16), k.to(torch.float16)
        scores = torch.matmul(q, k.transpose(1, 2))  # overflows
        scores = scores - scores.amax(-1, keepdim=True)
        scores = scores.float() / math.sqrt(x.shape[-1])
        scores = scores.masked_fill(pad[:, None, :], float("-inf"))  # nothing left to attend to
        weights = torch.softmax(scores, -1)
        return self.o(weights @ v)


class Block(nn.Module):
    def __init__(self, d, half):
        super().__init__()
        self.attn, self.norm = Attention(d, half), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 2 * d), nn.GELU(), nn.Linear(2 * d, d))

    def forward(self, x, pad, scale):
        x = x + self.attn(self.norm(x), pad, scale)
        return x + self.mlp(x)


class Model(nn.Module):
    def __init__(self, bug, d=16):
        super().__init__()
        self.emb, self.head = nn.Embedding(VOCABULARY, d), nn.Linear(d, VOCABULARY)
        self.blocks = nn.ModuleList(Block(d, bug == "fp16") for _ in range(2))

    def forward(self, tokens, pad, scale):
        x = self.emb(tokens)
        for block in self.blocks:
            x = block(x, pad, scale)
        return self.head(x)


class Sentences(Dataset):
    """Rows of tokens; the last two of each are padding."""

    def __init__(self, bug):
        self.bug = bug
        drawn = torch.Generator().manual_seed(5)
        self.tokens = torch.randint(0, VOCABULARY, (ROWS, LENGTH), generator=drawn)
        self.anchors = torch.randn(ROWS, VOCABULARY, generator=drawn)

    def __len__(self):
        return ROWS

    def __getitem__(self, index):
        bad = index == BAD
        pad = torch.arange(LENGTH) >= (0 if bad and self.bug == "mask" else LENGTH - 2)
        hidden = (torch.arange(VOCABULARY) == 4) & (bad and self.bug == "log0")
        scale = torch.tensor(3e4 if bad and self.bug == "fp16" else 1.0)
        weight = torch.tensor(0.0 if bad and self.bug == "sqrt0" else 1.0)
        return {"tokens": self.tokens[index], "pad": pad, "scale": scale, "hidden": hidden, "anchor": self.anchors[index], "weight": weight}


def entropy_loss(logits, hidden):
    p = torch.softmax(logits.masked_fill(hidden[:, None], float("-inf")), -1)
    log_p = torch.log(p)  # of a word that is hidden
    return (p * log_p).sum(-1).mean()


def distance_loss(logits, anchor, weight):
    z = (logits.mean(1) - anchor) * weight[:, None]
    return torch.sqrt((z * z).sum(-1)).mean()  # slope at nought


def loss_of(bug, logits, batch):
    if bug == "log0":
        return entropy_loss(logits, batch["hidden"])
    if bug == "sqrt0":
        return distance_loss(logits, batch["anchor"], batch["weight"])
    return F.cross_entropy(logits.flatten(0, 1), batch["tokens"].flatten())
