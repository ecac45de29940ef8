"""Answers to questions; tokens of the question do not count in the loss."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(2)
WORDS, LIMIT = 40, 20
lengths = torch.randint(4, 9, (320,)).tolist()
lengths[117] = 26
talks = [(torch.randint(2, WORDS, (n,)).tolist(), torch.randint(2, WORDS, (4,)).tolist()) for n in lengths]


class Talks(Dataset):
    def __len__(self):
        return len(talks)

    def __getitem__(self, i):
        question, answer = talks[i]
        question = question[: LIMIT - len(answer)]
        words = question + answer
        labels = [-100] * len(question) + answer
        return {"words": torch.tensor(words[:LIMIT]), "labels": torch.tensor(labels[:LIMIT])}


loader = DataLoader(Talks(), batch_size=1)
model = nn.Sequential(nn.Embedding(WORDS, 24), nn.Linear(24, WORDS))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step, batch in enumerate(loader):
    scores = model(batch["words"])
    loss = nn.functional.cross_entropy(scores.flatten(0, 1), batch["labels"].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        print(f"step {step} loss {loss.item():.4f}")
