"""Titles of books in another script, letter by letter; the two scripts have their own tables of letters."""

import torch
from torch import nn

SOURCE = {"<unk>": 0, "<pad>": 1, "<end>": 2}
TARGET = {"<pad>": 0, "<start>": 1, "<end>": 2}
LETTERS, LONGEST = 9, 10
torch.manual_seed(27)
lengths = torch.randint(2, LONGEST, (640, 1))
letters = torch.randint(3, 3 + LETTERS, (640, LONGEST))
places = torch.arange(LONGEST)
source = torch.where(places < lengths, letters, SOURCE["<pad>"])
target = torch.where(places < lengths, (letters + letters.roll(1, 1)) % LETTERS + 3, TARGET["<pad>"])
target = target.scatter(1, lengths, TARGET["<end>"])
table, read, head = nn.Embedding(3 + LETTERS, 24), nn.GRU(24, 48), nn.Linear(48, 3 + LETTERS)
parameters = [*table.parameters(), *read.parameters(), *head.parameters()]
optimizer = torch.optim.Adam(parameters, lr=3e-3)
criterion = nn.CrossEntropyLoss(ignore_index=SOURCE["<pad>"])
for epoch in range(8):
    for rows in torch.randperm(640).split(32):
        states, _ = read(table(source[rows].t()))
        scores = head(states)
        wanted = target[rows].t()
        loss = criterion(scores.flatten(0, 1), wanted.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    real = wanted != TARGET["<pad>"]
    right = (scores.argmax(2) == wanted)[real].float().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} right of the real ones {right.item():.3f}")
