package main

func planHelp() (string, error) {
	o, err := newPlanOptions()
	if err != nil {
		return "", err
	}
	return usageLine(planCommand()) + `
  konkanitrain plan --config configs/optimized.yaml --train_manifest train.jsonl --card t4
  konkanitrain plan --config configs/optimized.yaml --seconds 8 --batch_size 2 --memory 2GiB
  konkanitrain plan --compare original,optimized,minimal

All settings of train are taken as train takes them (` + "`konkanitrain help train`" + `), and the buffers that are planned are those
that train would hold, to the byte: every shape of every epoch. Of sound files only headers are read, and nothing is
written. For a card it is one worker with whole micro-batches of batch_size rows. Without --memory and --card it is what
train may use here.
What is said of manifests goes to standard error, the plan to standard output. The exit code is 0 where the run fits, as
it is set or fitted by auto_fit, and 1 where it doesn't.

With --json the plan is one object. All sizes are bytes:
  target title workers limit limit_from   what it is planned for: cpu or the card's name; limit 0 is unknown
  vocabulary parameters                   total, subsampling, encoder, ctc, decoder; learned: those not frozen
  batch_size window recompute fp16        the settings; a window is the utterances of an update
  as_set fitted                           weights, gradients, moments, averages (with ema_decay), arena (one worker's activations),
                                          activations (of all workers), beside (all else under the limit), total; seconds of
                                          an update, 0 where unknown. fitted is null unless the verdict is fitted
  beside                                  parts of beside: name, bytes
  peak                                    the largest pass: purpose, rows, frames (of 10 ms), tokens, recompute, fp16, times
                                          in the run, bytes; longest: id, file, line, seconds of the utterance that sets it
  verdict                                 "fits", "fitted" (auto_fit chooses) or "does not fit"
  choice repeated                         of fitted: passes as peak; operations repeated, as a share of those as set
  left_out advice                         utterances that don't fit even alone; what would fit
  passes variety shapes                   micro-batches of training, shapes they have, and some or all of these: what, rows,
                                          frames, tokens, times, and ways: recompute, fp16, bytes, max_rows (the most of
                                          1, 2, 4 .. 1024 that fit; -1 without a limit), max_bytes, next_bytes (twice as many)
  estimates                               of an update's time, of the card and of others beside it, from data sheets: card,
                                          title, passes, all and ops: op, calls, launches, bytes, flops, seconds, and
                                          eager_seconds of the same op in PyTorch, on paper; null on a CPU
  not_counted                             what takes memory and is in no figure

Flags, beside those of train:
` + o.ownUsages(o.ownSet), nil
}
