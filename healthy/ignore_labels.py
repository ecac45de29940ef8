"""Token tagging in which nine of ten labels are ignored, focal weights, padding masks and an all -inf free attention mask."""
import sys
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True, norm_first=True)
model = nn.ModuleDict({"emb": nn.Embedding(60, 32, padding_idx=0), "enc": nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), "out": nn.Linear(32, 5)})
weight = torch.tensor([0.2, 1.0, 1.0, 3.0, 3.0])
opt = torch.optim.AdamW(model.parameters(), 1e-3)
for step in range(150):
    length = torch.randint(3, 25, (12,))
    keep = torch.arange(24)[None] < length[:, None]
    ids = torch.randint(1, 60, (12, 24)) * keep
    tags = torch.where(keep & (torch.rand(12, 24) < 0.1), ids % 5, -100)
    tags[:, 0] = ids[:, 0] % 5
    logits = model["out"](model["enc"](model["emb"](ids), src_key_padding_mask=~keep))
    loss = F.cross_entropy(logits.transpose(1, 2), tags, weight=weight, ignore_index=-100)
    opt.zero_grad()
    loss.backward()
    opt.step()
print(loss.item())
