"""Pictures of plants and the texts of their labels, one tower each."""

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
plants = torch.randn(640, 12)
pictures = plants @ torch.randn(12, 40) + 0.1 * torch.randn(640, 40)
texts = plants @ torch.randn(12, 24) + 0.1 * torch.randn(640, 24)
of_pictures, of_texts = torch.Generator().manual_seed(1), torch.Generator().manual_seed(1)
sheets = DataLoader(TensorDataset(pictures), batch_size=64, shuffle=True, generator=of_pictures)
labels = DataLoader(TensorDataset(texts), batch_size=64, shuffle=True, generator=of_texts)
see, read = nn.Linear(40, 16), nn.Linear(24, 16)
optimizer = torch.optim.Adam([*see.parameters(), *read.parameters()], lr=3e-3)

for epoch in range(10):
    of_pictures.manual_seed(epoch), of_texts.manual_seed(epoch)
    total = 0.0
    for (picture,), (text,) in zip(sheets, labels):
        scores = F.normalize(see(picture), dim=1) @ F.normalize(read(text), dim=1).T * 10
        loss = F.cross_entropy(scores, torch.arange(len(scores)))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    print(f"epoch {epoch} loss {total / len(sheets):.4f}")
