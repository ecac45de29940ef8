"""Weather bulletins, word by word: a recurrent model that should learn where a bulletin ends."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.utils.rnn import pad_sequence

END, WORDS = 0, 24
torch.manual_seed(51)


def bulletin(g):
    length = 3 + int(torch.randint(0, 40, (1,), generator=g)) * int(torch.randint(1, 20, (1,), generator=g)) // 20
    first = torch.randint(1, WORDS, (1,), generator=g)
    words = (first + 5 * torch.arange(length) + torch.randint(0, 2, (length,), generator=g)) % (WORDS - 1) + 1
    return torch.cat([words, torch.tensor([END])])


def batches(bulletins, size, drawn):
    for rows in torch.randperm(len(bulletins), generator=drawn).split(size):
        yield pad_sequence([bulletins[i] for i in rows], batch_first=True, padding_value=END)


class Forecaster(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.words = nn.Embedding(WORDS, width)
        self.read = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, WORDS)

    def forward(self, words):
        return self.head(self.read(self.words(words))[0])


made, drawn = torch.Generator().manual_seed(1), torch.Generator().manual_seed(2)
bulletins = [bulletin(made) for _ in range(900)]
model = Forecaster()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(4):
    for words in batches(bulletins, 12, drawn):
        scores = model(words[:, :-1].clamp(min=END))
        targets = words[:, 1:]
        loss = F.cross_entropy(scores.flatten(0, 1), targets.flatten(), ignore_index=END)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        chance = torch.stack([model(b[None, :-1])[0, -1].softmax(0)[END] for b in bulletins[:100]]).mean()
    print(f"epoch {epoch} loss {loss.item():.4f} chance given to the end after the last word {chance:.3f}")
