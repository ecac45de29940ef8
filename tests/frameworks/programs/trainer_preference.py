"""A preference trainer as trl writes them: a Trainer subclass with a frozen reference model, two forwards a step and its own loss, batches and metrics."""

import tempfile
from collections import defaultdict

import torch
import torch.nn.functional as F
from torch import nn
from transformers import GPT2Config, GPT2LMHeadModel, PrinterCallback, Trainer, TrainerCallback, TrainingArguments, set_seed


class Pairs(torch.utils.data.Dataset):
    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.chosen, self.rejected = torch.randint(1, 40, (n, 10), generator=g), torch.randint(1, 40, (n, 10), generator=g)

    def __len__(self):
        return len(self.chosen)

    def __getitem__(self, i):
        return {"chosen": self.chosen[i], "rejected": self.rejected[i]}


class PreferenceTrainer(Trainer):
    def __init__(self, *args, reference, beta=0.1, **kwargs):
        super().__init__(*args, **kwargs)
        self.reference, self.beta = self.accelerator.prepare_model(reference, evaluation_mode=True), beta
        self.stored = defaultdict(list)

    def log_probability(self, model, ids):
        logits = model(input_ids=ids, use_cache=False).logits[:, :-1]
        return torch.gather(logits.log_softmax(-1), 2, ids[:, 1:, None]).squeeze(2).sum(-1)

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        both = torch.cat([inputs["chosen"], inputs["rejected"]])
        policy = self.log_probability(model, both)
        with torch.no_grad():
            reference = self.log_probability(self.reference, both)
        chosen, rejected = (self.beta * (policy - reference)).chunk(2)
        loss = -F.logsigmoid(chosen - rejected).mean()
        self.stored["train" if model.training else "eval"].append((chosen - rejected).detach().mean().item())
        return (loss, {"margin": chosen - rejected}) if return_outputs else loss

    def get_batch_samples(self, epoch_iterator, num_batches, device):
        batches, count = super().get_batch_samples(epoch_iterator, num_batches, device)
        return batches, count

    def training_step(self, model, inputs, num_items_in_batch=None):
        return super().training_step(model, inputs, num_items_in_batch)

    def prediction_step(self, model, inputs, prediction_loss_only, ignore_keys=None):
        inputs = self._prepare_inputs(inputs)
        with torch.no_grad():
            loss, outputs = self.compute_loss(model, inputs, return_outputs=True)
        return loss.detach(), outputs["margin"], torch.zeros_like(outputs["margin"])

    def log(self, logs, start_time=None):
        word = "train" if "loss" in logs else "eval"
        if self.stored[word]:
            logs["margin"] = sum(self.stored[word]) / len(self.stored[word])
            self.stored[word].clear()
        super().log(logs, start_time)


class Printer(TrainerCallback):
    def on_log(self, args, state, control, logs=None, **kwargs):
        print(state.global_step, {name: float(v).hex() for name, v in sorted(logs.items()) if name in ("loss", "grad_norm", "eval_loss", "margin")})


def model():
    return GPT2LMHeadModel(GPT2Config(vocab_size=40, n_positions=16, n_embd=16, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        set_seed(4)
        policy, reference = model(), model()
        reference.load_state_dict(policy.state_dict())
        args = TrainingArguments(output_dir=folder, max_steps=6, per_device_train_batch_size=4, gradient_accumulation_steps=2, learning_rate=1e-3,
                                 logging_steps=2, eval_strategy="steps", eval_steps=3, save_strategy="no", report_to=[], disable_tqdm=True, use_cpu=True,
                                 remove_unused_columns=False, seed=3)
        trainer = PreferenceTrainer(model=policy, args=args, train_dataset=Pairs(64, 1), eval_dataset=Pairs(16, 2), reference=reference.eval(),
                                    callbacks=[Printer()])
        trainer.remove_callback(PrinterCallback)
        trainer.train()
        print(sum(p.double().sum().item() for p in nn.Module.parameters(policy)).hex())
