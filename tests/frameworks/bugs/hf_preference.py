import sys
import tempfile

import torch
import torch.nn.functional as F
from language import BATCH, Model, Sentences, loss_of
from transformers import Trainer, TrainingArguments


class PreferenceTrainer(Trainer):
    """As trl writes them: a frozen reference model beside the policy, two forwards a step, its own loss."""

    def __init__(self, *args, reference, **kwargs):
        super().__init__(*args, **kwargs)
        self.reference = self.accelerator.prepare_model(reference, evaluation_mode=True)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        with torch.no_grad():
            reference = self.reference(inputs["tokens"], torch.zeros_like(inputs["pad"]), torch.ones_like(inputs["scale"]))
        logits = model(inputs["tokens"], inputs["pad"], inputs["scale"])
        near = F.kl_div(logits.log_softmax(-1), reference.log_softmax(-1), log_target=True, reduction="batchmean")
        loss = loss_of(bug, logits, inputs) + 0.01 * near
        return (loss, {"logits": logits}) if return_outputs else loss


bug = sys.argv[1]
torch.manual_seed(0)
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(
        folder,
        num_train_epochs=2,
        per_device_train_batch_size=BATCH,
        learning_rate=1e-3,
        remove_unused_columns=False,
        logging_steps=1,
        report_to=[],
        save_strategy="no",
        use_cpu=True,
        disable_tqdm=True,
    )
    PreferenceTrainer(model=Model(bug), args=arguments, train_dataset=Sentences(bug), reference=Model("none").eval()).train()
