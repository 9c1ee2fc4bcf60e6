#!/usr/bin/env python3
"""The recipes of bench/learn in PyTorch: trains the reference network with what a preset does differently.

    bench/learn/reference.py --reference DIR --epochs 100 --schedule cosine --train A.jsonl --test B.jsonl

DIR holds train_ref.py, which reads sound, augments, trains and scores. This script replaces a few of its functions and
leaves its loop alone: each setting below does what the setting of this name does in konkanitrain, and without any of
them the run is that of train_ref.py, number for number. So a gain that both trainers have is the recipe's, and not one
of a fault in the other. At the end the share of blank frames of the test set is printed beside its CER.

Left out is vtlp: train_ref.py computes features once for each speed, before training, and vtlp wants other ones in each
epoch. Needs torch and numpy. bench/README.md has figures.
"""
import argparse
import math
import pathlib
import sys

# What is replaced in train_ref.py.
REPLACED = ("Conformer", "batches", "evaluate", "featurise", "noam", "spec_augment")


def main():
    options, rest = parse()
    reference = load(options.reference)
    epochs = Epochs(reference)
    if options.schedule == "cosine":
        cosine(reference, epochs, options.epochs)
    if options.light_first_epochs:
        lighten(reference, epochs, options.light_first_epochs)
    if options.blank_bias or options.branch_shrink:
        start(reference, options.blank_bias, options.branch_shrink)
    if options.inter_ctc_weight:
        middle_ctc(reference, options.inter_ctc_weight)
    count_blanks(reference)
    sys.argv = ["train_ref.py", *rest, "--epochs", str(options.epochs)]
    try:
        reference.main()
    except OSError as e:
        sys.exit(f"reference.py: {e}")


def parse():
    ap = argparse.ArgumentParser(
        description=__doc__.split("\n")[0], allow_abbrev=False,
        epilog="All other arguments are those of train_ref.py: --train and --test, which it needs, and its settings.")
    add = ap.add_argument
    add("--reference", type=pathlib.Path, required=True, metavar="DIR", help="folder of train_ref.py")
    add("--epochs", type=number(int, "1 or more", lambda n: n >= 1), required=True, help="passes over the training set")
    add("--schedule", choices=["noam", "cosine"], default="noam",
        help="the learning rate behind the warm-up: it falls with the square root, or to 0 at the end by half a cosine")
    add("--blank_bias", type=number(float, "-100 to 100", lambda x: abs(x) <= 100), default=0.0, metavar="NATS",
        help="where the bias of CTC's blank starts")
    add("--branch_shrink", type=number(float, "0 to 1", lambda x: 0 <= x <= 1), default=0.0, metavar="SHARE",
        help="share by which the last weights of each residual branch start smaller")
    add("--light_first_epochs", type=number(int, "0 or more", lambda n: n >= 0), default=0, metavar="EPOCHS",
        help="so many epochs at the start have lighter augmentation, none in the first and more from epoch to epoch")
    add("--inter_ctc_weight", type=number(float, "0 or more and below 1", lambda x: 0 <= x < 1), default=0.0,
        metavar="SHARE", help="share of CTC in the loss that is taken behind the middle block, by the same layer")
    return ap.parse_known_args()


def number(kind, range_, good):
    """An argparse type: a number of this kind that is good, which the range says in words."""
    def convert(text):
        try:
            value = kind(text)
        except ValueError:
            value = None
        if value is None or not good(value):
            what = "a whole number" if kind is int else "a number"
            raise argparse.ArgumentTypeError(f"{text!r} is not possible; want {what}, {range_}")
        return value
    return convert


def load(folder):
    """The module train_ref, from a folder that has it."""
    if not (folder / "train_ref.py").is_file():
        sys.exit(f"reference.py: --reference {folder}: there is no train_ref.py in it; name the folder that has it")
    sys.path.insert(0, str(folder))
    try:
        import train_ref
    except ImportError as e:
        sys.exit(f"reference.py: {folder / 'train_ref.py'}: {e}; it needs torch and numpy, so start this script with a "
                 "Python that has them")
    missing = [name for name in REPLACED if not hasattr(train_ref, name)]
    if missing:
        sys.exit(f"reference.py: {train_ref.__file__} has no {', '.join(missing)}, which this script replaces: "
                 "it is not the train_ref.py that this script was written for")
    return train_ref


class Epochs:
    """Counts train_ref's epochs, from 0. It asks for an epoch's batches once, when the epoch begins."""

    def __init__(self, reference):
        self.now, self.updates = -1, 0  # updates: of one epoch
        batches = reference.batches

        def counted(lengths, size, rng):
            parts = batches(lengths, size, rng)
            self.now, self.updates = self.now + 1, len(parts)
            return parts

        reference.batches = counted


def cosine(reference, epochs, total):
    """Half a cosine from the peak, at the end of the warm-up, to 0 at the run's last update (update.Schedule)."""
    def rate(update, peak, warmup):
        if update <= warmup:
            return peak * update / warmup
        last = total * epochs.updates
        return peak * (1 - math.cos(math.pi * (last - update) / (last - warmup))) / 2

    reference.noam = rate


def lighten(reference, epochs, light):
    """Augmentation that grows: in epoch e < light it has the strength e / light. Masks are at most so large a part of
    what they are later, and an utterance is played at the speed drawn for it with this probability, else at 1
    (feature.Augment.At).

    train_ref.py hands spec_augment features at a speed, and not the utterance that they are of. So it is remembered of
    all features that are made which ones are the same sound at speed 1.
    """
    featurise, spec_augment = reference.featurise, reference.spec_augment
    plain = {}  # id of features: features, and those at speed 1
    sounds = {}  # id of sound: sound, and its features at speed 1. What is in here stays alive: its id is its own

    def remembered(x, rate, bins, speed=1.0):
        if id(x) not in sounds:
            sounds[id(x)] = (x, featurise(x, rate, bins))
        f = sounds[id(x)][1] if speed == 1 else featurise(x, rate, bins, speed)
        plain[id(f)] = (f, sounds[id(x)][1])
        return f

    def masked(f, rng, settings):
        if epochs.now >= light:
            return spec_augment(f, rng, settings)
        strength = epochs.now / light
        if rng.random() >= strength:
            f = plain[id(f)][1]
        lighter = dict(vars(settings), freq_width=math.floor(strength * settings.freq_width + 0.5),
                       time_share=strength * settings.time_share)
        return spec_augment(f, rng, argparse.Namespace(**lighter))

    reference.featurise, reference.spec_augment = remembered, masked


# The linears that end residual branches: of feed-forward modules, of attention, and of convolution modules.
LAST = ("ffn.down.weight", "ffn1.down.weight", "ffn2.down.weight",
        "attn.out.weight", "self.out.weight", "cross.out.weight", "conv.down.weight")


def start(reference, blank_bias, branch_shrink):
    """Other start values: of the blank, the first row of the CTC head, and of the last weights of residual branches,
    which are scaled after they were drawn (model.Parameters)."""
    import torch

    class Started(reference.Conformer):
        def reset(self):
            super().reset()
            with torch.no_grad():
                self.ctc.bias[0] = blank_bias
                for name, weight in self.named_parameters():
                    if name.endswith(LAST):
                        weight *= 1 - branch_shrink

    reference.Conformer = Started


def middle_ctc(reference, share):
    """Intermediate CTC: this share of CTC in the loss is that of the CTC head, with its own weights, on the output of
    block L/2 of L, rounded down and counted from 1 (model's middleCTC)."""
    class Middle(reference.Conformer):
        def __init__(self, config):
            if config.encoder_layers < 2:
                sys.exit(f"reference.py: --inter_ctc_weight {share:g}, and --encoder_layers {config.encoder_layers}: "
                         "there is no block in the middle; want 2 or more, or --inter_ctc_weight 0")
            super().__init__(config)
            self.middle = f"encoder.blocks.{config.encoder_layers // 2 - 1}.out"

        def losses(self, x, lengths, targets, target_lengths, tap=None):
            seen = []

            def keep(name, value, n):
                if name == self.middle:
                    seen.append((value, n))
                if tap:
                    tap(name, value, n)

            out = super().losses(x, lengths, targets, target_lengths, keep)
            if self.training:
                (y, n), = seen
                inter, _ = reference.ctc_nll(self.ctc(y), n, targets, target_lengths)
                weight = self.config.ctc_weight if self.config.decoder_layers else 1
                out["loss"] = out["loss"] + weight * share * (inter - out["ctc"])
            return out

    reference.Conformer = Middle


def count_blanks(reference):
    """Before the test set is scored, in how many of its encoder frames blank is the likeliest."""
    import torch
    evaluate = reference.evaluate

    @torch.no_grad()
    def counted(model, features, *more):
        model.eval()
        blank = frames = 0
        for f in features:
            x, n, _, _ = reference.collate([f], [[]])
            _, logits, n = model.encode(x, n)
            best = logits[0, :n[0]].argmax(-1)
            blank, frames = blank + int((best == 0).sum()), frames + len(best)
        scores = evaluate(model, features, *more)
        print(f"blanks {100 * blank / max(frames, 1):.1f} %  CER {100 * scores[2]:.2f} %", flush=True)
        return scores

    reference.evaluate = counted


if __name__ == "__main__":
    main()
