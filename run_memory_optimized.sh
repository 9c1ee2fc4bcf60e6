#!/bin/sh
# The optimized preset, 2 utterances at a time, 4 times an update, in half precision. Further arguments go to
# konkanitrain; a flag that is among them overrules the one here:
#   ./run_memory_optimized.sh --train_manifest train.jsonl --val_manifest dev.jsonl --resume auto
# The program is konkanitrain-gpu beside this script, or else konkanitrain there, or else either on the PATH, or else it
# is built here.
set -eu
self=$(readlink -f -- "$0" 2>/dev/null) || self=$0 # where links are not followed, run it by its own name
here=$(CDPATH='' cd -- "$(dirname -- "$self")" && pwd)
program=$here/konkanitrain-gpu
[ -x "$program" ] || program=$here/konkanitrain
[ -x "$program" ] || program=$(command -v konkanitrain-gpu) || program=$(command -v konkanitrain) || {
	program=$here/konkanitrain
	(cd "$here" && go build -o konkanitrain ./cmd/konkanitrain)
}
# name FLAG: its name, without a value, with _ for -, and the usual one of two.
name() {
	case $(printf '%s' "${1%%=*}" | tr - _) in
	__gradient_accumulation_steps) echo __grad_accum ;;
	__mixed_precision) echo __fp16 ;;
	*) printf '%s' "${1%%=*}" | tr - _ ;;
	esac
}
for flag in --fp16 --grad_accum=4 --batch_size=2 "--config=$here/configs/optimized.yaml"; do
	for arg; do
		[ "$(name "$arg")" != "$(name "$flag")" ] || continue 2
	done
	set -- "$flag" "$@"
done
exec "$program" "$@"
