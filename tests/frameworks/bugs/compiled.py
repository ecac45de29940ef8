import os
import sys

import torch
from language import BATCH, Model, Sentences, loss_of
from torch.utils.data import DataLoader

bug = sys.argv[1]
torch.manual_seed(0)
model = Model(bug)
compiled = torch.compile(model, backend=os.environ.get("COMPILE_BACKEND", "inductor"))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for epoch in range(2):
    for batch in DataLoader(Sentences(bug), batch_size=BATCH, shuffle=True):
        loss = loss_of(bug, compiled(batch["tokens"], batch["pad"], batch["scale"]), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
