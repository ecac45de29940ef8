import sys
import tempfile

import torch
from language import BATCH, Model, Sentences, loss_of
from transformers import Trainer, TrainingArguments


class LossTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        logits = model(inputs["tokens"], inputs["pad"], inputs["scale"])
        loss = loss_of(bug, logits, inputs)
        return (loss, {"logits": logits}) if return_outputs else loss


bug = sys.argv[1]
torch.manual_seed(0)
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder,
        num_train_epochs=2,
        per_device_train_batch_size=BATCH,
        gradient_accumulation_steps=2,
        learning_rate=1e-3,
        remove_unused_columns=False,
        report_to=[],
        save_strategy="no",
        use_cpu=True,
        disable_tqdm=True,
    )
    LossTrainer(model=Model(bug), args=arguments, train_dataset=Sentences(bug)).train()
