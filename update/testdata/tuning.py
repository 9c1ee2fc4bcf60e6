#!/usr/bin/env python3
"""Five updates of the PyTorch reference with a frozen part and several learning rates: writes tuning.safetensors.

    python3 update/testdata/tuning.py REFERENCE

REFERENCE is the folder of the reference model, with conformer.py and golden/. Everything is computed in float64 from
the weights and the window of golden/model_f4.safetensors; a parameter group of torch.optim.AdamW is all that learns at
one rate. The file holds what is learned after the fifth update, and each update's norm of the gradient.
"""
import os
import sys

import numpy as np
import torch

REFERENCE = sys.argv[1]
sys.path.insert(0, REFERENCE)
import conformer  # noqa: E402
import safetensors_io  # noqa: E402

FREEZE = ["encoder.subsample", "encoder.blocks.0.ffn1", "decoder.embed"]
SCALES = {"encoder": 0.1, "encoder.blocks.1.conv": 3.0}
PEAK, WARMUP, DECAY, CLIP = 1e-3, 3, 0.1, 0.5


def begins(name, prefix):
    return name == prefix or name.startswith(prefix + ".")


def scale(name):
    fitting = [p for p in SCALES if begins(name, p)]
    return SCALES[max(fitting, key=len)] if fitting else 1.0


golden = safetensors_io.load(os.path.join(REFERENCE, "golden", "model_f4.safetensors"))
golden = golden[0] if isinstance(golden, tuple) else golden
model = conformer.Conformer(conformer.Config(d_model=16, heads=2, encoder_layers=2, decoder_layers=1, vocab=11,
                                             subsample_channels=4, subsample_factor=4, features=20, kernel=5, dropout=0.0)).double()
groups = {}
for name, p in model.named_parameters():
    with torch.no_grad():
        p.copy_(torch.from_numpy(np.array(golden["weight." + name])).double().reshape(p.shape))
    if any(begins(name, f) for f in FREEZE):
        p.requires_grad_(False)
    else:
        groups.setdefault((scale(name), DECAY if conformer.decays(name) else 0.0), []).append(p)
optimizer = torch.optim.AdamW([dict(params=p, factor=f, weight_decay=d) for (f, d), p in groups.items()],
                              lr=PEAK, betas=(0.9, 0.98), eps=1e-9)
x, n, y, u = (torch.from_numpy(np.array(golden["input." + k])) for k in ("x", "lengths", "targets", "target_lengths"))
norms = []
for update in range(1, 6):
    optimizer.zero_grad()
    model.loss(x.double(), n, y, u, len(n)).backward()
    norms.append(float(torch.nn.utils.clip_grad_norm_([p for p in model.parameters() if p.requires_grad], CLIP)))
    for g in optimizer.param_groups:
        g["lr"] = g["factor"] * conformer.noam(update, PEAK, WARMUP)
    optimizer.step()
tensors = {"norm": np.array(norms)}
for name, p in model.named_parameters():
    if p.requires_grad:
        tensors[name] = p.detach().numpy().astype(np.float32)
safetensors_io.save(os.path.join(os.path.dirname(os.path.abspath(__file__)), "tuning.safetensors"), tensors)
print("norms", norms)
