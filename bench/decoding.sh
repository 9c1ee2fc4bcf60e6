#!/usr/bin/env bash
# What searches, language models and the network's decoder make of a test set: error rates, processor time for a second
# of sound, and memory, on one core. Weights are tuned on a validation set; where a model has no decoder layers, the
# rows with them are left out.
#
#   bash bench/decoding.sh CHECKPOINT DEV TEST [LM...]
#
# It needs Go, jq and GNU time.
set -euo pipefail
[ $# -ge 3 ] || { sed -n '2,8p' "$0"; exit 2; }
checkpoint=$1 dev=$2 test=$3
shift 3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(cd "$(dirname "$0")/.." && go build -o "$work/konkanitrain" ./cmd/konkanitrain)

row() {
  local name=$1
  shift
  command time -f '%U %M' -o "$work/time" "$work/konkanitrain" eval --checkpoint "$checkpoint" --manifest "$test" --cpu_workers 1 --json "$@" \
    >"$work/result.json" 2>"$work/errors" || { cat "$work/errors"; exit 1; }
  read -r seconds kilobytes <"$work/time"
  jq -r --arg name "$name" --argjson s "$seconds" --argjson k "$kilobytes" '.result |
    "| \($name) | \(.wer * 1000 | round / 10) % | \(.cer * 1000 | round / 10) % | \($s * 10000 / .audio | round / 10) ms | \($k / 1000 | round) MB |"' "$work/result.json"
}

tuned() {
  local name=$1
  shift
  "$work/konkanitrain" eval --checkpoint "$checkpoint" --manifest "$dev" --tune --save_decoding "$work/decoding.yaml" "$@" \
    >"$work/tune" 2>"$work/errors" || { cat "$work/errors"; exit 1; }
  row "$name" --decoding "$work/decoding.yaml"
}

echo '| | WER | CER | CPU time for a second of sound | memory |'
echo '| --- | --- | --- | --- | --- |'
row greedy
row beam --decoder beam
for lm in "$@"; do tuned "beam, $(basename "$lm")" --decoder beam --lm "$lm"; done
if "$work/konkanitrain" info "$checkpoint" --json | jq -e '.network.decoder_layers > 0' >/dev/null; then
  tuned 'rescore, a beam of 16' --decoder rescore --beam_width 16
  tuned 'joint, a beam of 16' --decoder joint --beam_width 16
fi
