"""NaN losses made on purpose and skipped by the user's own guard, attention masks of -inf, infinite padding, nanmean, a poisoned copy restored."""
import copy

import torch
from torch import nn

torch.manual_seed(0)
attend, head = nn.MultiheadAttention(8, 2, batch_first=True), nn.Linear(8, 3)
params = [*attend.parameters(), *head.parameters()]
optimizer = torch.optim.AdamW(params, lr=1e-2)
good, skipped = copy.deepcopy(head.state_dict()), 0
causal = torch.full((5, 5), float("-inf")).triu(1)
for step in range(8):
    x = torch.randn(4, 5, 8)
    padding = torch.zeros(4, 5, dtype=torch.bool)
    padding[:, 4] = True
    if step in (2, 5):
        padding[1] = True
    h, _ = attend(x, x, x, attn_mask=causal.bool(), key_padding_mask=padding, need_weights=False)
    logits = head(h).masked_fill(torch.tensor([False, False, step % 2 == 1]), float("-inf"))
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), torch.randint(0, 2, (20,)), reduction="none")
    each = loss.view(4, 5).mean(1)
    if torch.isnan(each).any():
        skipped += 1
        print(step, "nan", torch.isnan(each).tolist(), each.nanmean().item().hex())
        continue
    optimizer.zero_grad()
    each.mean().backward()
    norm = nn.utils.clip_grad_norm_(params, 1.0)
    if not torch.isfinite(norm):
        print(step, "bad gradients", norm.item())
        continue
    optimizer.step()
    if step == 6:
        with torch.no_grad():
            head.weight.fill_(float("nan"))
        print(step, head(torch.ones(8)).isnan().all().item())
        head.load_state_dict(good)
    print(step, each.mean().item().hex(), norm.item().hex())
print(skipped, [p.double().sum().item().hex() for p in params])
