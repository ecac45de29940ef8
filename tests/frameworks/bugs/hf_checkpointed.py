import functools
import sys
import tempfile

import torch
from language import BATCH, Model, Sentences, loss_of
from torch.utils.checkpoint import checkpoint
from transformers import Trainer, TrainingArguments


class CheckpointedModel(Model):
    supports_gradient_checkpointing = True

    def gradient_checkpointing_enable(self, gradient_checkpointing_kwargs=None, **more):
        self.run = functools.partial(checkpoint, **gradient_checkpointing_kwargs)

    def forward(self, tokens, pad, scale):
        x = self.emb(tokens)
        for block in self.blocks:
            x = self.run(block, x, pad, scale)
        return self.head(x)


class LossTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        logits = model(inputs["tokens"], inputs["pad"], inputs["scale"])
        loss = loss_of(bug, logits, inputs)
        return (loss, {"logits": logits}) if return_outputs else loss


bug, reentrant = sys.argv[1].split("-")[0], sys.argv[1].endswith("-reentrant")
torch.manual_seed(0)
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder,
        num_train_epochs=2,
        per_device_train_batch_size=BATCH,
        gradient_accumulation_steps=2,
        gradient_checkpointing=True,
        gradient_checkpointing_kwargs={"use_reentrant": reentrant},
        learning_rate=1e-3,
        remove_unused_columns=False,
        report_to=[],
        save_strategy="no",
        use_cpu=True,
        disable_tqdm=True,
    )
    LossTrainer(model=CheckpointedModel(bug), args=arguments, train_dataset=Sentences(bug)).train()
