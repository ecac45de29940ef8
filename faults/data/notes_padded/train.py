"""Language model on short notes; every batch is padded to its longest note."""

import torch
from torch import nn
from torch.utils.data import DataLoader

V, PAD = 50, 0


def notes(count=512):
    g = torch.Generator().manual_seed(21)
    lengths = torch.randint(4, 24, (count,), generator=g).tolist()
    return [torch.randint(1, V, (n,), generator=g) for n in lengths]


def collate(samples):
    ids = nn.utils.rnn.pad_sequence(samples, batch_first=True, padding_value=PAD)
    mask = (torch.arange(ids.shape[1]) < torch.tensor([len(s) for s in samples])[:, None]).long()
    labels = ids.clone()
    return {"ids": ids, "mask": mask, "labels": labels}


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.gru, self.head = nn.Embedding(V, 24), nn.GRU(24, 32, batch_first=True), nn.Linear(32, V)

    def forward(self, ids):
        return self.head(self.gru(self.embed(ids))[0])


torch.manual_seed(5)
model = Model()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
loader = DataLoader(notes(), batch_size=16, shuffle=True, collate_fn=collate)
for epoch in range(2):
    for batch in loader:
        scores = model(batch["ids"])
        loss = nn.functional.cross_entropy(scores[:, :-1].flatten(0, 1), batch["labels"][:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")
