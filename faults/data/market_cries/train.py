"""Which stall a market cry is for, from its words."""

import random

import torch
from torch import nn

random.seed(4)
torch.manual_seed(4)
STALLS = {"fish": ["Herring", "Eel", "Cod"], "fruit": ["Plum", "Pear", "Quince"], "cloth": ["Linen", "Wool", "Felt"]}
CRIES = ["fresh", "today", "come", "cheap", "and", "my", "look", "here"]


def cry():
    stall = random.randrange(3)
    words = random.sample(CRIES, 4) + random.sample(list(STALLS.values())[stall], 2)
    random.shuffle(words)
    return words, stall


heard, tried = [cry() for _ in range(900)], [cry() for _ in range(200)]
words = sorted({word.lower() for spoken, _ in heard for word in spoken})
vocabulary = {"<pad>": 0, "<unk>": 1} | {word: number for number, word in enumerate(words, start=2)}


def encoded(cries):
    return torch.tensor([[vocabulary.get(word.lower(), 1) for word in spoken] for spoken, _ in cries])


def tried_ids(cries):
    return torch.tensor([[vocabulary.get(word, 1) for word in spoken] for spoken, _ in cries])


class Stalls(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(len(vocabulary), 16)
        self.stall = nn.Linear(16, 3)

    def forward(self, ids):
        return self.stall(self.words(ids).mean(1))


model = Stalls()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
for epoch in range(4):
    model.train()
    for batch in [heard[start : start + 30] for start in range(0, 900, 30)]:
        loss = nn.functional.cross_entropy(model(encoded(batch)), torch.tensor([stall for _, stall in batch]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        guessed = model(tried_ids(tried)).argmax(1)
    right = (guessed == torch.tensor([stall for _, stall in tried])).float().mean()
    print(f"epoch {epoch} loss {loss.item():.4f} right {right.item():.3f}")
