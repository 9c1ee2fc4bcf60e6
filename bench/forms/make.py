#!/usr/bin/env python3
"""Writes one corpus, a part of examples/konkani_words, in every form that konkanitrain reads.

    python3 make.py FOLDER

It needs flac, lame, oggenc and opusenc, and the packages pyarrow, webdataset, lhotse and soundfile. Lhotse imports
PyTorch, which is large; without it Lhotse's forms are left out, aloud.
FOLDER/forms.json then lists the forms: the manifest, a JSON-lines manifest of the same WAV files with the ids that the
form gives, and what is lost. forms_test.go compares the two.
"""

import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import wave

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS = os.path.join(HERE, "..", "..", "examples", "konkani_words")
VOICES = ("v01", "v02")

LOSSLESS = "nothing"


class Utterance:
    def __init__(self, line):
        self.voice, number = line["audio_filepath"][4:-4].split("/")
        self.id = f"{self.voice}-{number}"
        self.text = line["text"]
        with open(os.path.join(WORDS, line["audio_filepath"]), "rb") as f:
            self.wav = f.read()
        with wave.open(io.BytesIO(self.wav)) as w:
            self.samples, self.rate = w.getnframes(), w.getframerate()
        self.duration = self.samples / self.rate


def corpus():
    with open(os.path.join(WORDS, "train.jsonl"), encoding="utf-8") as f:
        lines = [json.loads(line) for line in f]
    return [u for u in map(Utterance, lines) if u.voice in VOICES]


def run(*command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


class Forms:
    def __init__(self, root):
        self.root, self.all = os.path.abspath(root), []
        self.utterances = corpus()
        for u in self.utterances:
            self.write(f"wav/{u.id}.wav", u.wav)

    def path(self, *names):
        path = os.path.join(self.root, *names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        return path

    def write(self, name, content):
        with open(self.path(name), "wb") as f:
            f.write(content if isinstance(content, bytes) else content.encode())

    def jsonl(self, name, rows):
        self.write(name, "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows))

    def form(self, name, manifest, identity=lambda u: u.id, lost=LOSSLESS):
        """Notes a form, and writes the manifest to compare it with."""
        reference = f"reference/{name}.jsonl"
        self.jsonl(reference, ({"audio_filepath": f"../wav/{u.id}.wav", "text": u.text, "id": identity(u), "speaker": u.voice}
                               for u in self.utterances))
        self.all.append({"name": name, "manifest": self.path(manifest), "reference": self.path(reference), "lost": lost})

    # Lists of files.

    def json_lines(self):
        self.jsonl("jsonl.jsonl", ({"audio_filepath": f"wav/{u.id}.wav", "text": u.text, "id": u.id} for u in self.utterances))
        self.form("jsonl", "jsonl.jsonl")
        # What is left out here is found out: the keys of other tools, and the ending.
        self.jsonl("aliases.jsonl", ({"file_name": f"wav/{u.id}.mp3", "transcription": u.text, "id": u.id} for u in self.utterances))
        self.form("aliases", "aliases.jsonl")

    def codecs(self):
        for name, ending, lost, command in (
            ("flac", "flac", LOSSLESS, ("flac", "-s", "-f", "-o", "OUT", "IN")),
            ("mp3", "mp3", "mp3", ("lame", "--quiet", "-b", "64", "--noreplaygain", "IN", "OUT")),
            ("vorbis", "ogg", "vorbis", ("oggenc", "-Q", "-q", "6", "-o", "OUT", "IN")),
            ("opus", "opus", "opus", ("opusenc", "--quiet", "--bitrate", "64", "IN", "OUT")),
        ):
            for u in self.utterances:
                places = {"IN": self.path("wav", f"{u.id}.wav"), "OUT": self.path(name, f"{u.id}.{ending}")}
                run(*(places.get(word, word) for word in command))
            self.jsonl(f"{name}/list.jsonl", ({"audio_filepath": f"{u.id}.{ending}", "text": u.text, "id": u.id} for u in self.utterances))
            self.form(name, f"{name}/list.jsonl", lost=lost)

    def tables(self):
        def table(name, header, row, sep, identity):
            lines = [sep.join(header)] if header else []
            self.write(name, "\n".join(lines + [sep.join(row(u)) for u in self.utterances]) + "\n")
            self.form(name.split("/")[0], name, identity)

        table("coqui/metadata.csv", ("audio_file", "text", "speaker_name"),
              lambda u: (f"../wav/{u.id}.wav", u.text, u.voice), "|", lambda u: f"../wav/{u.id}.wav")
        table("speechbrain/train.csv", ("ID", "duration", "wav", "spk_id", "wrd"),
              lambda u: (u.id, str(u.duration), f"../wav/{u.id}.wav", u.voice, u.text), ",", lambda u: u.id)
        for u in self.utterances:
            self.write(f"commonvoice/clips/{u.id}.wav", u.wav)
        table("commonvoice/train.tsv", ("client_id", "path", "sentence"),
              lambda u: (u.voice, f"{u.id}.wav", u.text), "\t", lambda u: f"{u.id}.wav")

    def folders(self):
        for form in ("csv", "jsonl"):
            for u in self.utterances:
                self.write(f"audiofolder-{form}/{u.id}.wav", u.wav)
        self.write("audiofolder-csv/metadata.csv",
                   "file_name,transcription\n" + "".join(f"{u.id}.wav,{u.text}\n" for u in self.utterances))
        self.form("audiofolder-csv", "audiofolder-csv", lambda u: f"{u.id}.wav")
        self.jsonl("audiofolder-jsonl/metadata.jsonl", ({"file_name": f"{u.id}.wav", "text": u.text} for u in self.utterances))
        self.form("audiofolder-jsonl", "audiofolder-jsonl", lambda u: f"{u.id}.wav")

        speakers = {}
        for u in self.utterances:
            run("flac", "-s", "-f", "-o", self.path(f"librispeech/{u.voice[1:]}/1/{u.voice[1:]}-1-{u.id[4:]}.flac"),
                self.path("wav", f"{u.id}.wav"))
            speakers.setdefault(u.voice[1:], []).append(f"{u.voice[1:]}-1-{u.id[4:]} {u.text}\n")
        for speaker, lines in speakers.items():
            self.write(f"librispeech/{speaker}/1/{speaker}-1.trans.txt", "".join(lines))
        self.form("librispeech", "librispeech", lambda u: f"{u.voice[1:]}-1-{u.id[4:]}")

        for u in self.utterances:
            self.write(f"ljspeech/wavs/{u.id}.wav", u.wav)
        self.write("ljspeech/metadata.csv", "".join(f"{u.id}|{u.text}|{u.text}\n" for u in self.utterances))
        self.form("ljspeech", "ljspeech")

    def kaldi(self):
        wav = {u.id: self.path("wav", f"{u.id}.wav") for u in self.utterances}
        flac = {u.id: self.path("flac", f"{u.id}.flac") for u in self.utterances}
        text = "".join(f"{u.id} {u.text}\n" for u in self.utterances)
        for name, scp in (("kaldi", lambda u: wav[u.id]), ("kaldi-flac-pipe", lambda u: f"flac -c -d -s {flac[u.id]} |"),
                          ("kaldi-sox-pipe", lambda u: f"sox {wav[u.id]} -t wav - |")):
            self.write(f"{name}/text", text)
            self.write(f"{name}/wav.scp", "".join(f"{u.id} {scp(u)}\n" for u in self.utterances))
            self.form(name, name)
        # One long recording, and where each utterance lies in it.
        with wave.open(self.path("kaldi-segments/all.wav"), "wb") as w:
            w.setparams((1, 2, self.utterances[0].rate, 0, "NONE", ""))
            at, segments = 0, []
            for u in self.utterances:
                with wave.open(io.BytesIO(u.wav)) as one:
                    w.writeframes(one.readframes(u.samples))
                segments.append(f"{u.id} all {at / u.rate} {(at + u.samples) / u.rate}\n")
                at += u.samples
        self.write("kaldi-segments/text", text)
        self.write("kaldi-segments/wav.scp", "all all.wav\n")
        self.write("kaldi-segments/segments", "".join(segments))
        self.form("kaldi-segments", "kaldi-segments")

    # Archives.

    def nemo(self):
        half = len(self.utterances) // 2
        for shard, part in enumerate((self.utterances[:half], self.utterances[half:])):
            with tarfile.open(self.path(f"nemo/audio_{shard}.tar"), "w") as tar:
                for u in part:
                    info = tarfile.TarInfo(f"{u.id}.wav")
                    info.size = len(u.wav)
                    tar.addfile(info, io.BytesIO(u.wav))
        self.jsonl("nemo/tarred_audio_manifest.json",
                   ({"audio_filepath": f"{u.id}.wav", "text": u.text, "duration": u.duration, "shard_id": int(i >= half)}
                    for i, u in enumerate(self.utterances)))
        self.form("nemo", "nemo/tarred_audio_manifest.json", lambda u: f"{u.id}.wav")

    def webdataset(self):
        import webdataset

        for form, texts in (("txt", lambda u: {"txt": u.text}), ("json", lambda u: {"json": {"text": u.text, "speaker": u.voice}})):
            with webdataset.ShardWriter(self.path(f"webdataset-{form}", "shard-%03d.tar"), maxcount=30, verbose=0) as sink:
                for u in self.utterances:
                    sink.write({"__key__": u.id, "wav": u.wav, **texts(u)})
        last = (len(self.utterances) - 1) // 30
        self.form("webdataset-txt", "webdataset-txt/shard-{000..%03d}.tar" % last)
        self.form("webdataset-json", "webdataset-json")

    def lhotse(self):
        try:
            import lhotse
        except ImportError as e:
            print(f"NOT WRITTEN HERE: Lhotse's forms: {e}")
            return

        recordings = lhotse.RecordingSet.from_recordings(
            lhotse.Recording.from_file(self.path("wav", f"{u.id}.wav"), recording_id="r-" + u.id) for u in self.utterances)
        supervisions = lhotse.SupervisionSet.from_segments(
            lhotse.SupervisionSegment(id=u.id, recording_id="r-" + u.id, start=0, duration=u.duration, text=u.text, speaker=u.voice)
            for u in self.utterances)
        os.makedirs(self.path("lhotse", ""), exist_ok=True)
        recordings.to_file(self.path("lhotse/train_recordings.jsonl.gz"))
        supervisions.to_file(self.path("lhotse/train_supervisions.jsonl.gz"))
        self.form("lhotse-supervisions", "lhotse/train_supervisions.jsonl.gz")
        cuts = lhotse.CutSet.from_manifests(recordings=recordings, supervisions=supervisions)
        cuts.to_file(self.path("lhotse/cuts.jsonl.gz"))
        self.form("lhotse-cuts", "lhotse/cuts.jsonl.gz")
        os.makedirs(self.path("shar", ""), exist_ok=True)
        for ending in ("wav", "flac"):
            folder = self.path(f"shar-{ending}", "")
            cuts.to_shar(folder, fields={"recording": ending}, shard_size=30)
            self.form(f"shar-{ending}", f"shar-{ending}")
        # One long recording, and what is said in it.
        long = lhotse.Recording.from_file(self.path("kaldi-segments/all.wav"), recording_id="all")
        at, parts = 0.0, []
        for u in self.utterances:
            parts.append(lhotse.SupervisionSegment(id=u.id, recording_id="all", start=at, duration=u.duration, text=u.text))
            at += u.duration
        lhotse.CutSet.from_cuts([lhotse.MonoCut(id="all", start=0, duration=long.duration, channel=0, recording=long, supervisions=parts)]).to_file(
            self.path("lhotse/long.jsonl"))
        self.form("lhotse-long", "lhotse/long.jsonl")

    def parquet(self):
        import pyarrow
        import pyarrow.parquet

        feature = {"info": {"features": {"audio": {"_type": "Audio"}, "sentence": {"dtype": "string", "_type": "Value"}}}}
        rows = pyarrow.table({
            "id": [u.id for u in self.utterances],
            "audio": [{"bytes": u.wav, "path": f"{u.id}.wav"} for u in self.utterances],
            "sentence": [u.text for u in self.utterances],
            "client_id": [u.voice for u in self.utterances],
            "duration": [u.duration for u in self.utterances],
        }).replace_schema_metadata({"huggingface": json.dumps(feature)})
        for name, options in (
            ("parquet-snappy", {"compression": "snappy"}), ("parquet-zstd", {"compression": "zstd", "row_group_size": 100}),
            ("parquet-gzip", {"compression": "gzip"}), ("parquet-brotli", {"compression": "brotli"}),
            ("parquet-none", {"compression": "none"}), ("parquet-v2", {"data_page_version": "2.0", "version": "2.6"}),
            ("parquet-plain", {"use_dictionary": False, "data_page_size": 4096, "write_batch_size": 4}),
            ("parquet-delta", {"use_dictionary": False, "column_encoding": {"audio.bytes": "DELTA_LENGTH_BYTE_ARRAY",
                                                                            "sentence": "DELTA_BYTE_ARRAY"}}),
        ):
            half = rows.num_rows // 2
            for i, part in enumerate((rows.slice(0, half), rows.slice(half))):
                pyarrow.parquet.write_table(part, self.path(name, f"train-{i:05d}-of-00002.parquet"), **options)
            self.form(name, name)
        paths = rows.drop_columns(["audio"]).append_column("audio", pyarrow.array(
            [{"bytes": None, "path": f"../wav/{u.id}.wav"} for u in self.utterances],
            pyarrow.struct([("bytes", pyarrow.binary()), ("path", pyarrow.string())])))
        os.makedirs(self.path("parquet-paths", ""), exist_ok=True)
        pyarrow.parquet.write_table(paths, self.path("parquet-paths/train.parquet"))
        self.form("parquet-paths", "parquet-paths/train.parquet")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for program in ("flac", "lame", "oggenc", "opusenc"):
        if shutil.which(program) is None:
            sys.exit(f"{program} is not installed")
    forms = Forms(sys.argv[1])
    for make in (forms.json_lines, forms.codecs, forms.tables, forms.folders, forms.kaldi, forms.nemo, forms.webdataset,
                 forms.lhotse, forms.parquet):
        make()
    forms.write("forms.json", json.dumps(forms.all, indent=1))
    print(f"{len(forms.all)} forms of {len(forms.utterances)} utterances in {forms.root}")


if __name__ == "__main__":
    main()
