"""A character-level transformer that learns to write like the help pages of Python."""

import pydoc_data.topics

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

CONTEXT = 96
PAD = 0


class Pages(Dataset):
    """One help page per item, cut to CONTEXT characters and padded on the right."""

    def __init__(self, texts):
        self.letters = {c: i + 1 for i, c in enumerate(sorted(set("".join(texts))))}
        self.texts = texts

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, index):
        ids = [self.letters[c] for c in self.texts[index].strip()[: CONTEXT + 1]]
        return torch.tensor(ids + [PAD] * (CONTEXT + 1 - len(ids)))


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, mask):
        b, t, c = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-2, -1) / (c // self.heads) ** 0.5
        weights = torch.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
        x = x + self.out((weights @ v).transpose(1, 2).reshape(b, t, c))
        return x + self.mlp(self.norm2(x))


class CharLM(nn.Module):
    def __init__(self, letters, width=64, heads=4, depth=2):
        super().__init__()
        self.embed = nn.Embedding(letters, width)
        self.position = nn.Parameter(torch.zeros(CONTEXT, width))
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, letters)

    def forward(self, ids):
        causal = torch.ones(CONTEXT, CONTEXT, dtype=torch.bool, device=ids.device).tril()
        mask = causal & (ids != PAD)[:, None, None, :]
        x = self.embed(ids) + self.position
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


def corpus():
    """The help pages, paragraph by paragraph; one came out of the conversion with nothing but white space in it."""
    pages = pydoc_data.topics.topics
    texts = [part for name in sorted(pages) for part in pages[name].split("\n\n")][:2400]
    texts[1666] = " \n"
    return texts


def main():
    torch.manual_seed(0)
    data = Pages(corpus())
    loader = DataLoader(data, batch_size=16, shuffle=True, generator=torch.Generator().manual_seed(1))
    model = CharLM(len(data.letters) + 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step, ids in enumerate(loader):
        logits = model(ids[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step:4d}  loss {loss.item():.4f}")
        if step == 150:
            break


if __name__ == "__main__":
    main()
