#!/usr/bin/env python3
"""Losses and gradients of the PyTorch reference with intermediate CTC and smoothing of CTC: writes little.safetensors.

    python3 update/testdata/little.py REFERENCE

REFERENCE is the folder of the reference model, with conformer.py and golden/. Everything is computed in float64 from
the weights and the window of golden/model_f4.safetensors. The file holds each utterance's losses and the gradient of
their mean at every parameter.
"""
import os
import sys

import numpy as np
import torch
import torch.nn.functional as F

REFERENCE = sys.argv[1]
sys.path.insert(0, REFERENCE)
import conformer  # noqa: E402
import safetensors_io  # noqa: E402

INTER, SMOOTHING = 0.4, 0.1

golden = safetensors_io.load(os.path.join(REFERENCE, "golden", "model_f4.safetensors"))
golden = golden[0] if isinstance(golden, tuple) else golden
config = conformer.Config(d_model=16, heads=2, encoder_layers=2, decoder_layers=1, vocab=11, subsample_channels=4,
                          subsample_factor=4, features=20, kernel=5, dropout=0.0)
model = conformer.Conformer(config).double()
with torch.no_grad():
    for name, p in model.named_parameters():
        p.copy_(torch.from_numpy(np.array(golden["weight." + name])).double().reshape(p.shape))
x, n, y, u = (torch.from_numpy(np.array(golden["input." + k])) for k in ("x", "lengths", "targets", "target_lengths"))

middle = {}


def tap(name, value, lengths):
    if name == "encoder.blocks.%d.out" % (config.encoder_layers // 2 - 1):
        middle["out"] = value


def smoothed(logits, lengths):
    """CTC [B], mixed with the cross-entropy of each true frame with the uniform distribution; 0 without an alignment."""
    nll, ok = conformer.ctc_nll(logits, lengths, y, u)
    uniform = -F.log_softmax(logits, -1).mean(-1) * conformer.frame_mask(lengths, logits.shape[1]).to(logits.dtype)
    return torch.where(ok, (1 - SMOOTHING) * nll + SMOOTHING * uniform.sum(1), torch.zeros_like(nll))


memory, logits, frames = model.encode(x.double(), n, tap)
ctc, inter = smoothed(logits, frames), smoothed(model.ctc(middle["out"]), frames)
out, wanted, steps = model.decode(memory, frames, y, u)
ce = conformer.label_smoothed_ce(out, wanted, steps, config.label_smoothing)
total = config.ctc_weight * ((1 - INTER) * ctc + INTER * inter) + (1 - config.ctc_weight) * ce
total.mean().backward()
tensors = {"loss." + k: v.detach().numpy() for k, v in dict(ctc=ctc, inter=inter, ce=ce, total=total).items()}
for name, p in model.named_parameters():
    tensors["grad." + name] = p.grad.numpy().astype(np.float32)
safetensors_io.save(os.path.join(os.path.dirname(os.path.abspath(__file__)), "little.safetensors"), tensors)
print({k: v for k, v in tensors.items() if k.startswith("loss.")})
