"""A small model of letters, pretrained, kept in half precision, and trained on from there."""

import io

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
text = "the moon is a stone and the stone is a moon and the sea is as old as the moon " * 30
letters = sorted(set(text))
ids = torch.tensor([letters.index(c) for c in text])


class Poet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.emb = nn.Embedding(len(letters), width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, len(letters), bias=False)
        self.head.weight = self.emb.weight

    def forward(self, x):
        return self.head(self.rnn(self.emb(x))[0])


def fit(model, steps):
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for step in range(steps):
        at = torch.randint(0, len(ids) - 25, (16,))
        window = torch.stack([ids[i : i + 25] for i in at])
        loss = F.cross_entropy(model(window[:, :-1]).flatten(0, 1), window[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(step, round(loss.item(), 4))


poet = Poet()
fit(poet, 60)
file = io.BytesIO()
torch.save({name: value.half() for name, value in poet.state_dict().items()}, file)
file.seek(0)

poet = Poet()
poet.load_state_dict({name: value.float() for name, value in torch.load(file).items()}, assign=True)
fit(poet, 60)
print("weights", sum(p.numel() for p in poet.parameters()))
