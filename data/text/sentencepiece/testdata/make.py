#!/usr/bin/env python3
"""Trains models with the SentencePiece library, and writes down what it makes of sentences with them.

    make.py DIR                  small models and few sentences, as committed beside this file
    make.py DIR --text FILE      models of 500 to 4,000 pieces, and 10,000 sentences, of which some are the lines of FILE

DIR gets NAME.model and cases.jsonl: {"model": NAME, "text": ..., "ids": [...], "back": ...}. Cases without a text are ids
to write as text only. It needs the package sentencepiece, 0.2.0.
"""

import argparse
import io
import json
import pathlib
import random

import sentencepiece

ENGLISH = {
    "who": "the farmer|a quiet teacher|my younger sister|every fisherman|the old baker|nobody here|Mr. Naik|our neighbours".split("|"),
    "does": "carries|has forgotten|would rather sell|paints|doesn't like|is looking for|re-reads|can't find".split("|"),
    "what": "two baskets of mangoes|the red boat|a letter from 1987|fish & rice|the co-operative's keys|№ 5 of 12".split("|"),
    "where": "near the river|behind the church|at 7:30 a.m.|in Panjim|on the way home|under a banyan tree".split("|"),
}
NASTY = [
    "", " ", "   ", "\t", "\n", "\u00a0", " a", "a ", " a  b ", "a\u3000b", "a\tb\nc", "▁", "▁▁", "a▁b", "▁a ▁ b▁", "⁇", " ⁇ ", "<unk>",
    "<s>", "</s>", "a<s>b", "<0x0A>", "<0x41>", "<sep>", "a<sep>b", "<sep><sep>", "<se", "\x00", "a\x00b", "\x01\x02\x7f", "\u200b", "\ufeffa",
    "ｆｕｌｌ　ｗｉｄｔｈ", "①②③", "㍿", "ﬁne ﬂow", "…", "½", "²", "Å Å", "e\u0301\u0327", "क\u093c ख\u093c", "\u0958\u0959", "क़", "र्\u200dया",
    "वाट\u200d", "१२३ 123 १,२३", "।", "वाट।", "॥", "ँ", "\u0901\u0902", "😀", "😀😀 a", "👩\u200d👩\u200d👧", "🇮🇳", "\U0010ffff", "\ue000", "\ufffd",
    "a\ufffdb", "漢字", "ﷺ", "ﬀ", "ǅ", "ẞß", "İı", "TITLE", "Ⅷ", "ｶﾞ", "が", "ᄒ\u1161ᆫ", "한", "z̷͉̎a̵l̸g̶o", "a" * 60, "वा" * 30, " " * 20 + "a",
    "don't", "“quoted”", "a—b", "a-b", "C++ & C#", "http://a.b/c?d=e&f", "\\", "\"", "'", "\u2028", "\u0085", "a\u2003b", "\u180e", "\u1680x",
]


def english(draw):
    return " ".join([draw.choice(ENGLISH["who"]), draw.choice(ENGLISH["does"]), draw.choice(ENGLISH["what"]), draw.choice(ENGLISH["where"])])


def spoiled(draw, line, other):
    """A line as nobody should write it."""
    cut = draw.randrange(len(line) + 1)
    return draw.choice([
        lambda: line[:cut], lambda: line[cut:], lambda: line.upper(), lambda: "  " + line.replace(" ", "  "),
        lambda: line[:cut] + draw.choice(NASTY) + line[cut:], lambda: line + "।" + other, lambda: line.replace(" ", ""),
        lambda: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in line), lambda: line[::-1],
    ])()


def train(path, lines, **options):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=out, minloglevel=2, num_threads=1, **options)
    path.write_bytes(out.getvalue())
    return sentencepiece.SentencePieceProcessor(model_proto=out.getvalue())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("dir", type=pathlib.Path)
    p.add_argument("--text", type=pathlib.Path)
    p.add_argument("--more", help="also the cases of DIR/MORE.model, which is there already")
    a = p.parse_args()
    a.dir.mkdir(parents=True, exist_ok=True)
    draw = random.Random(7)
    if a.text:
        lines = a.text.read_text(encoding="utf-8").splitlines()
        lines += [english(draw) for _ in range(3000)]
        sentences, decodes = NASTY + lines, 300
        while len(sentences) < 10000:
            sentences.append(spoiled(draw, draw.choice(lines), draw.choice(lines)))
        size = {"bpe": 500, "unigram": 2000, "bytes": 1000, "suffix": 800, "spaces": 700, "symbols": 900, "word": 4000, "char": 200}
        rules = {"bpe": "nmt_nfkc", "unigram": "nfkc_cf", "bytes": "identity", "suffix": "nfkc", "spaces": "nmt_nfkc_cf", "symbols": "nmt_nfkc"}
        rules = {name: {"normalization_rule_name": rule} for name, rule in rules.items()}
    else:
        # The first lines are of the project, and so are the rules, as the library's take a quarter of a megabyte.
        lines = ["म्हजें नांव किदें", "तुजें नांव कितें आसा", "हांव घरा वता", "आमी सगळीं पणजे वतात", "तो वाटेर रावला", "एक दोन तीन चार पांच"]
        lines += [english(draw) for _ in range(40)]
        sentences, decodes = NASTY + lines, 12
        sentences += [spoiled(draw, draw.choice(lines), draw.choice(lines)) for _ in range(30)]
        size = {"bpe": 130, "unigram": 130, "bytes": 380, "suffix": 130, "spaces": 130, "symbols": 130, "word": 60, "char": 90}
        tsv = a.dir / "rules.tsv"
        tsv.write_text("".join(f"{a}\t{b}\n" for a, b in [
            ("A0", "20"), ("9", "20"), ("A", "20"), ("3000", "20"), ("200B", ""), ("FEFF", ""), ("FB01", "66 69"), ("2460", "31"),
            ("65 301", "E9"), ("65 301 327", "229 301"), ("958", "915 93C"), ("964", "2E"), ("2026", "2E 2E 2E"), ("41", "61"), ("54", "74"),
            ("A8", "20 308"), ("20 20 21", "21"),
        ]))
        rules = {name: {"normalization_rule_tsv": str(tsv)} for name in size if name != "bytes"}
        rules["bytes"] = {"normalization_rule_name": "identity"}
    seen = lines if a.text is None else lines[:3000] + lines[4083:]
    common = {"character_coverage": 0.999, "hard_vocab_limit": False}
    more = {
        "bpe": {"model_type": "bpe"},
        "unigram": {"model_type": "unigram"},
        "bytes": {"model_type": "bpe", "byte_fallback": True, "character_coverage": 0.98},
        "suffix": {"model_type": "unigram", "treat_whitespace_as_suffix": True, "byte_fallback": a.text is not None},
        "spaces": {"model_type": "bpe", "remove_extra_whitespaces": False, "split_by_whitespace": False},
        "symbols": {
            "model_type": "unigram", "user_defined_symbols": ["<sep>", "ा", "tt", "the"], "control_symbols": ["<ctl>"], "unk_id": 3, "bos_id": 0,
            "eos_id": 1, "pad_id": 2, "add_dummy_prefix": False, "unk_surface": "<?>",
        },
        "word": {"model_type": "word", "use_all_vocab": True},
        "char": {"model_type": "char"},
    }
    with open(a.dir / "cases.jsonl", "w", encoding="utf-8") as out:
        names = list(more) + ([a.more] if a.more else [])
        for name in names:
            if name not in more:
                model = sentencepiece.SentencePieceProcessor(model_file=str(a.dir / f"{name}.model"))
            else:
                model = train(
                    a.dir / f"{name}.model", seen, vocab_size=size[name], **{**common, **rules.get(name, {}), **more[name]})
            for text in sentences:
                ids = model.encode(text)
                out.write(json.dumps({"model": name, "text": text, "ids": ids, "back": model.decode(ids)}, ensure_ascii=False) + "\n")
            for _ in range(decodes):
                ids = [draw.randrange(model.vocab_size()) for _ in range(draw.randrange(12))]
                out.write(json.dumps({"model": name, "ids": ids, "back": model.decode(ids)}) + "\n")
    if a.text is None:
        tsv.unlink()


main()
