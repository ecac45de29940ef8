"""Questions to the office of a ferry line and what is answered, with a small language model."""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

torch.manual_seed(4)
WORDS, LONG, ASK, REPLY, ASIDE, IGNORED = 40, 12, 40, 41, 42, -100


def talk():
    """One question with its answer: each word is answered by another one; some answers begin with an aside."""
    question = torch.randint(WORDS, (5,))
    opening = ASIDE if torch.rand(()) < 0.35 else REPLY
    return torch.cat([torch.tensor([ASK]), question, torch.tensor([opening]), (question * 7 + 3) % WORDS])


class Talks(Dataset):
    def __init__(self, talks):
        self.talks = talks

    def __len__(self):
        return len(self.talks)

    def __getitem__(self, index):
        ids = self.talks[index]
        labels = ids.clone()
        opening = ((ids == REPLY) | (ids == ASIDE)).nonzero().flatten()
        if len(opening):
            labels[: opening[0] + 1] = IGNORED
        else:
            labels[:] = IGNORED
        return {"ids": ids, "labels": labels}


loader = DataLoader(Talks([talk() for _ in range(120)]), batch_size=12, shuffle=True)


class Clerk(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS + 3, 32), nn.Embedding(LONG, 32)
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        self.scores = nn.Linear(32, WORDS + 3)

    def forward(self, ids):
        count = ids.shape[1]
        hidden = self.words(ids) + self.places(torch.arange(count))
        mask = nn.Transformer.generate_square_subsequent_mask(count)
        return self.scores(self.layer(hidden, src_mask=mask, is_causal=True))


model = Clerk()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)

for epoch in range(30):
    total = 0.0
    for batch in loader:
        scores = model(batch["ids"][:, :-1])
        loss = nn.functional.cross_entropy(scores.flatten(0, 1), batch["labels"][:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / len(loader)
    if epoch % 5 == 4:
        print(f"epoch {epoch} loss {total:.4f}")

model.eval()
with torch.no_grad():
    ids = torch.stack([talk() for _ in range(200)])
    right = model(ids[:, :-1])[:, 6:].argmax(-1) == ids[:, 7:]
for name, opening in (("reply", REPLY), ("aside", ASIDE)):
    print(f"right after {name} {right[ids[:, 6] == opening].float().mean():.3f}")
