"""Dates as people write them, into ISO form: a small encoder-decoder, trained in two sessions."""

import math
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789 ,.-/"
PAD, BEGIN, END = 0, 1, 2
CODE = {letter: number + 3 for number, letter in enumerate(LETTERS)}
WIDTH, HEADS, BATCH, SESSIONS, EPOCHS, WARMUP = 48, 4, 32, 2, 5, 40


def written(day, month, year, style):
    name = MONTHS[month - 1]
    return [f"{day} {name} {year}", f"{name} {day}, {year}", f"{day}.{month}.{year}", f"{year}/{month}/{day}", f"{name} {year}"][style]


class Dates(Dataset):
    def __init__(self, count=1120, seed=7):
        g = torch.Generator().manual_seed(seed)
        day, month, year = (torch.randint(low, high, (count,), generator=g).tolist() for low, high in ((1, 29), (1, 13), (1960, 2030)))
        style = torch.randint(0, 5, (count,), generator=g).tolist()
        self.source = [written(*row) for row in zip(day, month, year, style)]
        self.target = [f"{y:04d}-{m:02d}" + (f"-{d:02d}" if s < 4 else "") for d, m, y, s in zip(day, month, year, style)]

    def __len__(self):
        return len(self.source)

    def __getitem__(self, i):
        source = [CODE[letter] for letter in self.source[i]]
        target = [BEGIN, *(CODE[letter] for letter in self.target[i]), END]
        return torch.tensor(source, dtype=torch.long), torch.tensor(target)


def collate(items):
    source = nn.utils.rnn.pad_sequence([s for s, _ in items], batch_first=True, padding_value=PAD)
    target = nn.utils.rnn.pad_sequence([t for _, t in items], batch_first=True, padding_value=PAD)
    return source, target


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v, self.out = (nn.Linear(WIDTH, WIDTH) for _ in range(4))

    def forward(self, x, memory, allowed):
        q, k, v = (f(t).unflatten(-1, (HEADS, -1)).transpose(1, 2) for f, t in ((self.q, x), (self.k, memory), (self.v, memory)))
        scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
        scores = scores.masked_fill(~allowed, float("-inf"))
        return self.out((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, crosses):
        super().__init__()
        self.look = Attention()
        self.cross = Attention() if crosses else None
        self.norm1, self.norm3 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH) if crosses else None
        self.mlp = nn.Sequential(nn.Linear(WIDTH, 2 * WIDTH), nn.GELU(), nn.Linear(2 * WIDTH, WIDTH))

    def forward(self, x, allowed, memory=None, readable=None):
        n = self.norm1(x)
        x = x + self.look(n, n, allowed)
        if self.cross is not None:
            x = x + self.cross(self.norm2(x), memory, readable)
        return x + self.mlp(self.norm3(x))


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.letters, self.places = nn.Embedding(len(LETTERS) + 3, WIDTH), nn.Embedding(32, WIDTH)
        self.encoder, self.decoder = Block(False), Block(True)
        self.head = nn.Linear(WIDTH, len(LETTERS) + 3)

    def embed(self, ids):
        return self.letters(ids) + self.places(torch.arange(ids.shape[1]))

    def forward(self, source, target):
        readable = (source != PAD)[:, None, None]
        memory = self.encoder(self.embed(source), readable)
        past = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()
        return self.head(self.decoder(self.embed(target), past, memory, readable))


def loss_of(model, source, target):
    logits = model(source, target[:, :-1])
    return F.cross_entropy(logits.flatten(0, 1), target[:, 1:].flatten(), ignore_index=PAD)


@torch.no_grad()
def letters_right(model, loader):
    model.eval()
    right = total = 0
    for source, target in loader:
        best = model(source, target[:, :-1]).argmax(-1)
        keep = target[:, 1:] != PAD
        right += (best == target[:, 1:])[keep].sum().item()
        total += keep.sum().item()
    model.train()
    return right / total


def session(number, path, train, held):
    model = Translator()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / WARMUP))
    if os.path.exists(path):
        kept = torch.load(path)
        model.load_state_dict(kept["model"])
        optimizer.load_state_dict(kept["optimizer"])
        schedule.load_state_dict(kept["schedule"])
    for epoch in range(number * EPOCHS, (number + 1) * EPOCHS):
        total = 0.0
        for source, target in train:
            loss = loss_of(model, source, target)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(train):.3f} letters right {letters_right(model, held):.3f}")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict()}, path)


def main():
    torch.manual_seed(0)
    train = DataLoader(Dates(), BATCH, shuffle=True, collate_fn=collate, generator=torch.Generator().manual_seed(1))
    held = DataLoader(Dates(128, seed=8), 64, collate_fn=collate)
    with tempfile.TemporaryDirectory() as folder:
        for number in range(SESSIONS):
            session(number, os.path.join(folder, "dates.pt"), train, held)


if __name__ == "__main__":
    main()
