"""Transcribes WAV files with sherpa-onnx, as its own documentation does: a question as JSON on standard input, the texts
and the times of tokens on standard output."""

import json
import sys
import wave

import numpy as np
import sherpa_onnx

q = json.load(sys.stdin)
make = getattr(sherpa_onnx.OfflineRecognizer, q["method"])
recognizer = make(model=q["folder"] + "/model.onnx", tokens=q["folder"] + "/tokens.txt", num_threads=1,
                  sample_rate=q["sample_rate"], feature_dim=q["num_mels"])
streams = []
for path in q["files"]:
    with wave.open(path) as w:
        assert w.getsampwidth() == 2 and w.getnchannels() == 1
        samples = np.frombuffer(w.readframes(w.getnframes()), np.int16).astype(np.float32) / 32768
        streams.append(recognizer.create_stream())
        streams[-1].accept_waveform(w.getframerate(), samples)
for i in range(0, len(streams), 16):
    recognizer.decode_streams(streams[i : i + 16])
json.dump([{"text": s.result.text, "times": s.result.timestamps} for s in streams], sys.stdout)
