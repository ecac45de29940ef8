"""Does a report of the weather speak of wind or of rain, and not of both? Reports of unlike length, filled up with 0."""

import torch
from torch import nn

torch.manual_seed(9)
WORDS, LONGEST = 20, 12
wind, rain = 1, 2


def reports(count):
    ids, mask = torch.zeros(count, LONGEST, dtype=torch.long), torch.zeros(count, LONGEST, dtype=torch.long)
    speaks = torch.rand(count, 2) < 0.5
    for row in range(count):
        length = int(torch.randint(6, LONGEST, ()))
        text = torch.randint(3, WORDS, (length,))
        places = torch.randperm(length)[:2]
        text[places[speaks[row]]] = torch.tensor([wind, rain])[speaks[row]]
        ids[row, :length], mask[row, :length] = text, 1
    return ids, mask, (speaks[:, 0] ^ speaks[:, 1]).float()


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(WORDS, 32, padding_idx=0), nn.Embedding(LONGEST, 32)
        layer = nn.TransformerEncoderLayer(32, 2, 64, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(32, 1)

    def forward(self, ids, mask):
        x = self.words(ids) + self.places.weight
        x = self.encoder(x, src_key_padding_mask=mask == 0)
        return self.head((x * mask.unsqueeze(2)).sum(1) / mask.sum(1, keepdim=True)).squeeze(1)


model = Reader()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for step in range(250):
    ids, mask, odd = reports(64)
    loss = nn.functional.binary_cross_entropy_with_logits(model(ids, mask), odd)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
ids, mask, odd = reports(512)
with torch.no_grad():
    right = ((model(ids, mask) > 0) == odd.bool()).float().mean()
print(f"loss {loss.item():.4f} right {right:.3f}")
