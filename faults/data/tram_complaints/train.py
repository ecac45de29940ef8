"""Sorts the complaints of tram passengers by what they are about."""

import re

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pack_padded_sequence, pad_sequence
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(5)
TOPICS = [["late", "wait", "delay", "clock"], ["dirty", "seat", "smell", "floor"], ["fare", "ticket", "price", "fine"]]
FILLERS = ["the", "tram", "was", "again", "today", "line", "very"]
WORDS = {word: number for number, word in enumerate(["<pad>", *FILLERS, *sum(TOPICS, [])])}


def complaint(topic):
    words = TOPICS[topic] + FILLERS
    return " ".join(words[int(torch.randint(len(words), ()))] for _ in range(int(torch.randint(4, 12, ()))))


class Complaints(Dataset):
    def __init__(self, texts, topics):
        self.texts, self.topics = texts, topics

    def __len__(self):
        return len(self.texts)

    def __getitem__(self, at):
        ids = [WORDS[word] for word in re.findall("[a-z]+", self.texts[at])]
        return torch.tensor(ids, dtype=torch.long), len(ids), self.topics[at]


def joined(samples):
    ids, lengths, topics = zip(*samples, strict=True)
    return pad_sequence(ids, batch_first=True), torch.tensor(lengths), torch.tensor(topics)


class Clerk(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.reader = nn.Embedding(len(WORDS), 24, padding_idx=0), nn.GRU(24, 32, batch_first=True)
        self.topic = nn.Linear(32, len(TOPICS))

    def forward(self, ids, lengths):
        packed = pack_padded_sequence(self.words(ids), lengths, batch_first=True, enforce_sorted=False)
        return self.topic(self.reader(packed)[1][-1])


topics = torch.randint(len(TOPICS), (1200,)).tolist()
texts = [complaint(topic) for topic in topics]
texts[487] = "!!! 12:40 ???"
clerk = Clerk()
optimizer = torch.optim.Adam(clerk.parameters(), lr=3e-3)
loader = DataLoader(Complaints(texts, topics), batch_size=24, collate_fn=joined)
for epoch in range(3):
    for ids, lengths, wanted in loader:
        loss = F.cross_entropy(clerk(ids, lengths), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
