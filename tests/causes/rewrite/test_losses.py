"""What a loss is given."""

from __future__ import annotations

from debugtracer.causes.rewrite.rewritten import rewritten


def test_scores_go_to_the_loss_as_they_are():
    assert rewritten("loss = F.cross_entropy(torch.softmax(x, 1), y)", "raw-scores") == (
        "loss = F.cross_entropy(x, y)",
    )
    assert rewritten("loss = F.cross_entropy(model(x).softmax(-1), y)", "raw-scores") == (
        "loss = F.cross_entropy(model(x), y)",
    )
    assert rewritten("return F.softmax(scores, dim=-1)", "raw-scores") == ("return scores",)
    assert rewritten("l = F.binary_cross_entropy_with_logits(torch.sigmoid(x), y)", "raw-scores") == (
        "l = F.binary_cross_entropy_with_logits(x, y)",
    )
    assert rewritten("loss = F.cross_entropy(torch.sigmoid(x), y)", "raw-scores") is None
    assert rewritten("loss = F.cross_entropy(scores, y)", "raw-scores") is None


def test_a_logarithm_of_a_softmax_is_one_op():
    assert rewritten("p = F.softmax(x, dim=1).log().mean()", "log-of-scores") == ("p = F.log_softmax(x, dim=1).mean()",)
    assert rewritten("p = torch.log(q)", "log-of-scores") is None


def test_a_shape_is_taken_from_the_one_with_a_name():
    assert rewritten("loss = F.mse_loss(out, y[:, 0])", "same-shape") == (
        "loss = F.mse_loss(out, y[:, 0].view_as(out))",
    )
    assert rewritten("loss = F.mse_loss(model(x), y)", "same-shape") == ("loss = F.mse_loss(model(x).view_as(y), y)",)
    assert rewritten("loss = F.mse_loss(model(x), f(y))", "same-shape") is None


def test_the_mean_over_targets_divides_by_1_at_least():
    after = 'return F.nll_loss(p, y, reduction="sum") / (y != -100).sum().clamp_min(1)'
    assert rewritten("return F.nll_loss(p, y)", "counted-targets") == (after,)
    assert rewritten("return 2 * F.nll_loss(p, y)", "counted-targets") == (f"return 2 * ({after[7:]})",)
    assert rewritten("return F.cross_entropy(p, y, weight=w)", "counted-targets") is None


def test_a_mask_is_finite_however_its_infinity_is_written():
    for written in ("float('-inf')", '-float("inf")', "-torch.inf", "-math.inf"):
        assert rewritten(f"s = s.masked_fill(m, {written})", "finite-mask") == ("s = s.masked_fill(m, -10000)",)
    assert rewritten("s = s.masked_fill(m, float('inf'))", "finite-mask") is None


def test_the_branch_that_is_not_selected_gets_a_safe_argument():
    assert rewritten("return torch.where(m, x.sqrt(), y)", "safe-branch", op="sqrt") == (
        "return torch.where(m, torch.where(m, x, 1).sqrt(), y)",
    )
    assert rewritten("return torch.where(m, y, x.sqrt())", "safe-branch", op="sqrt") is None


def test_memory_is_filled():
    assert rewritten("b = x.new_empty(3)", "allocated") == ("b = x.new_zeros(3)",)
    assert rewritten("b = torch.empty_like(x)", "allocated") == ("b = torch.zeros_like(x)",)
    assert rewritten("b = empty(3)", "allocated") is None


def test_a_log_softmax_runs_over_the_classes():
    assert rewritten("return F.log_softmax(self.body(x), dim=0)", "class-dim") == (
        "return F.log_softmax(self.body(x), dim=-1)",
    )
    assert rewritten("return scores.log_softmax(0)", "class-dim") == ("return scores.log_softmax(-1)",)
    assert rewritten("return F.log_softmax(x, dim=1)", "class-dim") is None
