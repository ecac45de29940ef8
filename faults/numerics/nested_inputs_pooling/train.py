"""Passage ranking with dictionaries, optional fields and a model output object, the way larger libraries call their models."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Optional

import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


@dataclass
class RankingOutput:
    loss: Optional[torch.Tensor] = None
    scores: Optional[torch.Tensor] = None
    hidden_states: Optional[tuple] = None


class Passages(Dataset):
    def __init__(self, n=144):
        g = torch.Generator().manual_seed(3)
        self.ids = torch.randint(1, 70, (n, 2, 11), generator=g)
        self.lengths = torch.randint(3, 12, (n, 2), generator=g)
        self.lengths[114, 1] = 0

    def __len__(self):
        return len(self.ids)

    def __getitem__(self, i):
        mask = torch.arange(11) < self.lengths[i][:, None]
        return {
            "query": {"input_ids": self.ids[i, 0], "attention_mask": mask[0]},
            "passage": {"input_ids": self.ids[i, 1], "attention_mask": mask[1]},
            "labels": float(self.ids[i, 0, 0] > 35),
            "uid": f"p{i}",
        }


def collate(rows):
    batch = OrderedDict((side, {k: torch.stack([r[side][k] for r in rows]) for k in rows[0][side]}) for side in ("query", "passage"))
    batch["labels"] = torch.tensor([r["labels"] for r in rows])
    batch["meta"] = [r["uid"] for r in rows]
    return batch


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.layer = nn.Embedding(70, 20), nn.Linear(20, 20)

    def forward(self, input_ids=None, attention_mask=None, output_hidden_states=False):
        h = torch.tanh(self.layer(self.embed(input_ids)))
        pooled = (h * attention_mask.unsqueeze(-1)).sum(1) / attention_mask.sum(1, keepdim=True)
        return (pooled, (h,)) if output_hidden_states else (pooled, None)


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()
        self.score = nn.Bilinear(20, 20, 1)

    def forward(self, query=None, passage=None, labels=None, meta=None, use_cache=False, past=None, return_dict=True, top_k=3):
        (q, hq), (p, hp) = self.encoder(**query, output_hidden_states=True), self.encoder(**passage)
        scores = self.score(q, p).squeeze(-1)
        loss = nn.functional.binary_cross_entropy_with_logits(scores, labels) if labels is not None else None
        return RankingOutput(loss=loss, scores=scores, hidden_states=(hq, hp, past)) if return_dict else (loss, scores)


torch.manual_seed(11)
model = Ranker()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
loader = DataLoader(Passages(), batch_size=9, shuffle=True, collate_fn=collate, generator=torch.Generator().manual_seed(13))
for step, batch in enumerate(loader):
    out = model(**batch, use_cache=False, past=None)
    out.loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step} loss {out.loss.item():.4f} first {batch['meta'][0]}")
