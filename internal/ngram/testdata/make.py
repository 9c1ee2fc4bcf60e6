#!/usr/bin/env python3
"""Writes the models and scores in this folder, and scores other texts.

    python make.py --lmplz PATH              # with PyPI's kenlm 0.3.0, and lmplz built from its source
    python make.py --score LM.arpa TEXTS     # a log10 probability for each line of TEXTS, as kenlm has it

texts.txt has sentences that are drawn here from a few words. Of them lmplz estimates words.arpa (order 3), pruned.arpa
(order 3, n-grams of orders 2 and 3 that were seen once left out), vocabulary.arpa (order 2, so too for words) and
letters.arpa (order 4, of characters). srilm.arpa is words.arpa without some of the 2-grams that no 3-gram begins with,
as SRILM prunes them: 3-grams end with them all the same. scores.tsv has for each model and text the log10 probability by kenlm: the sum of
full_scores in float64, for score() itself sums in float32.
"""
import argparse
import pathlib
import random
import subprocess

import kenlm

HERE = pathlib.Path(__file__).parent
SPACE = "\u2581"
WORDS = ("हांव तूं तो ती आमी घर घरा वता येता ना आसा बाजार बाजारांत उदक पावस दर्या नुस्तें भाजी रांदता खाता पिता "
         "बरें व्हड ल्हान काल आयज फाल्यां आनी पूण").split()


def texts(seed, n, words):
    """Sentences in which a word is often followed by one of a few."""
    draw = random.Random(seed)
    for _ in range(n):
        sentence, at = [], draw.randrange(len(words))
        for _ in range(draw.randint(1, 7)):
            sentence.append(words[at])
            at = (at * 5 + draw.choice((1, 1, 2, 3))) % len(words) if draw.random() < 0.7 else draw.randrange(len(words))
        yield " ".join(sentence)


def without_ends(arpa):
    """Every third of the 2-grams that begin no 3-gram left out."""
    head, words, pairs, triples = arpa.removesuffix("\n\n\\end\\\n").split("\n\n\\")
    begin = {" ".join(line.split("\t")[1].split()[:2]) for line in triples.split("\n")[1:] if "\t" in line}
    kept, seen = [], 0
    for line in pairs.split("\n"):
        if "\t" in line and line.split("\t")[1] not in begin:
            seen += 1
            if seen % 3 == 0:
                continue
        kept.append(line)
    count = pairs.count("\n")
    head = head.replace(f"ngram 2={count}", f"ngram 2={len(kept) - 1}")
    return "\n\n\\".join((head, words, "\n".join(kept), triples, "end\\\n"))


def spelled(text):
    return " ".join(SPACE if c == " " else c for c in text)


def score(model, text):
    return sum(p for p, _, _ in model.full_scores(text))


def make(lmplz):
    # The last word is seen once: of the last n-gram of each order lmplz takes the plain count into its counts of counts,
    # where the adjusted one is meant, and here these are equal.
    sentences = list(texts(1, 120, WORDS)) + ["आयज उजवाड ऊ"]
    (HERE / "texts.txt").write_text("\n".join(sentences) + "\n")

    def estimate(name, *options, split=str):
        text = "".join(split(s) + "\n" for s in sentences)
        command = [lmplz, "-S", "100M", "--discount_fallback", *options]
        out = subprocess.run(command, input=text.encode(), stdout=subprocess.PIPE, check=True).stdout
        (HERE / name).write_bytes(out)

    estimate("words.arpa", "-o", "3")
    estimate("pruned.arpa", "-o", "3", "--prune", "0", "1")
    estimate("vocabulary.arpa", "-o", "2", "--prune", "1")
    estimate("letters.arpa", "-o", "4", split=spelled)

    (HERE / "srilm.arpa").write_text(without_ends((HERE / "words.arpa").read_text()))
    held = list(texts(2, 30, WORDS + ["म्हजें", "नांव"]))
    rows = []
    for name in ("words", "pruned", "vocabulary", "letters", "srilm"):
        model = kenlm.Model(str(HERE / f"{name}.arpa"))
        for text in held:
            rows.append(f"{name}\t{score(model, spelled(text) if name == 'letters' else text):.7f}\t{text}\n")
    (HERE / "scores.tsv").write_text("".join(rows))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lmplz")
    parser.add_argument("--score", nargs=2, metavar=("LM", "TEXTS"))
    arguments = parser.parse_args()
    if arguments.score:
        scoring = kenlm.Model(arguments.score[0])
        for line in pathlib.Path(arguments.score[1]).read_text().split("\n")[:-1]:
            print(f"{score(scoring, line):.7f}")
    else:
        make(arguments.lmplz)
