#!/bin/bash
# What a start from a trained model is worth: a network that has learned English digits of five speakers learns Konkani
# words of two voices, and is scored on a voice that neither has heard, beside one that begins with nothing.
#
#   bench/finetune.sh RECORDINGS [OUT]
#
# RECORDINGS is the folder of the Free Spoken Digit Dataset (github.com/Jakobovski/free-spoken-digit-dataset), whose
# files are called DIGIT_SPEAKER_TAKE.wav, at 8 kHz; the words are in examples. Start it from the repository's root. It
# prints a row for each way and a column for each seed; everything else is in OUT (runs/finetune), where what is done
# already is not done again. Each run takes a minute or two on two cores.
#
# SEEDS, DIGIT_UPDATES and WORD_UPDATES change what their names say; KONKANITRAIN is the program.
set -euo pipefail
recordings=$(realpath "${1:?usage: bench/finetune.sh RECORDINGS [OUT]}")
out=${2:-runs/finetune}
program=${KONKANITRAIN:-./konkanitrain}
seeds=${SEEDS:-1 2 3}
mkdir -p "$out"

# Digits: the first 15 takes of all speakers but theo. Words: 40 of each of two voices, and of a third one.
names=(zero one two three four five six seven eight nine)
for digit in "${!names[@]}"; do
  for file in "$recordings/${digit}"_*_{0..14}.wav; do
    case $file in *_theo_*) ;; *) echo "{\"audio_filepath\": \"$file\", \"text\": \"${names[digit]}\"}" ;; esac
  done
done >"$out/digits.jsonl"
words() { grep -h "\"wav/$1/" examples/konkani_words/*.jsonl | sed "s|\"wav/|\"$PWD/examples/konkani_words/wav/|" || true; }
{ words v01; words v02; } >"$out/words.jsonl"
words v11 >"$out/held_out.jsonl"

network=(--sample_rate 8000 --num_mels 40 --d_model 96 --encoder_layers 3 --decoder_layers 0 --heads 4 --conv_kernel 15
  --subsampling 2 --subsample_channels 32 --batch_size 16 --grad_accum 1 --freq_width 8 --freq_masks 2 --time_masks 2 --time_share 0.1
  --learning_rate 2e-3 --num_epochs 1000 --eval_every 1000000 --save_every 1000000)

# run NAME FLAGS... trains, unless that is done, and leaves the line of its score in NAME.score.
run() {
  local name=$1
  shift
  [ -s "$out/$name.score" ] && return
  rm -rf "${out:?}/$name" # what was broken off begins anew
  "$program" "${network[@]}" --checkpoint_dir "$out/$name" "$@" >"$out/$name.log" 2>&1 ||
    { tail -n 5 "$out/$name.log" >&2; exit 1; }
  { grep 'test set' "$out/$name.log" || echo done; } >"$out/$name.score"
}

run digits --train_manifest "$out/digits.jsonl" --max_updates "${DIGIT_UPDATES:-600}" --warmup_updates 100
digits=$(echo "$out"/digits/step-*)

row() {
  local way=$1 name=$2 seed cells="" mean="0" n=0
  shift 2
  for seed in $seeds; do
    run "$name-$seed" --train_manifest "$out/words.jsonl" --test_manifest "$out/held_out.jsonl" \
      --max_updates "${WORD_UPDATES:-150}" --warmup_updates 30 --seed "$seed" "$@"
    local wer cer
    wer=$(sed 's/.*WER \([0-9.]*\) %.*/\1/' "$out/$name-$seed.score")
    cer=$(sed 's/.*CER \([0-9.]*\) %.*/\1/' "$out/$name-$seed.score")
    cells="$cells $wer / $cer |"
    mean="$mean + $wer"
    n=$((n + 1))
  done
  echo "| $way | $cells $(awk "BEGIN { printf \"%.1f\", ($mean) / $n }") |"
}

echo "| WER / CER in % | $(for s in $seeds; do echo -n "seed $s | "; done)mean WER |"
echo "|---|$(for s in $seeds; do echo -n "---|"; done)---|"
row "from nothing" nothing
row "\`--init_from\`" start --init_from "$digits"
row "\`--init_from\`, \`--lr_scale encoder=0.5\`" half --init_from "$digits" --lr_scale encoder=0.5
row "\`--init_from\`, \`--lr_scale encoder=0.1\`" slow --init_from "$digits" --lr_scale encoder=0.1
row "\`--init_from\`, \`--freeze encoder.subsample,encoder.blocks.0\`" low --init_from "$digits" --freeze encoder.subsample,encoder.blocks.0
row "\`--init_from\`, \`--freeze encoder\`" encoder --init_from "$digits" --freeze encoder
