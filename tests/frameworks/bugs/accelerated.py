import sys

import torch
from accelerate import Accelerator
from language import BATCH, Model, Sentences, loss_of
from torch.utils.data import DataLoader

bug = sys.argv[1]
torch.manual_seed(0)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
model = Model(bug)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
loader = DataLoader(Sentences(bug), batch_size=BATCH, shuffle=True)
model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
for epoch in range(2):
    for batch in loader:
        with accelerator.accumulate(model):
            loss = loss_of(bug, model(batch["tokens"], batch["pad"], batch["scale"]), batch)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
