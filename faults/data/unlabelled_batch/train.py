"""Part-of-speech tagger on sentences sorted by source; unknown tags are ignored by the loss."""

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(23)
words = torch.randint(0, 60, (200, 7))
tags = words % 6
tags[torch.rand(200, 7) > 0.8] = -100
tags[112:120] = -100
model = nn.Sequential(nn.Embedding(60, 20), nn.Linear(20, 6))
criterion = nn.CrossEntropyLoss(ignore_index=-100)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for epoch in range(2):
    for x, y in DataLoader(TensorDataset(words, tags), batch_size=8):
        loss = criterion(model(x).flatten(0, 1), y.flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"epoch {epoch} last loss {loss.item():.4f}")
