package data

import (
	"path"
	"slices"
	"strings"
)

// pipedFile is the file that a command of a wav.scp reads, where it does nothing else but write the file's sound to
// its output: ok is false for all others. Commands are never run.
func pipedFile(command string) (file string, ok bool) {
	command, ok = strings.CutSuffix(strings.TrimSpace(command), "|")
	args, plain := shellWords(command)
	if !ok || !plain || len(args) < 2 {
		return "", false
	}
	rest := args[1:]
	switch path.Base(args[0]) {
	case "cat":
		return alone(rest)
	case "flac":
		decodes := false
		rest = slices.DeleteFunc(rest, func(a string) bool {
			decodes = decodes || a == "--decode" || strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(a, "d")
			return isFlacOption(a)
		})
		if file, ok = alone(rest); decodes {
			return file, ok
		}
	case "sph2pipe":
		if i := slices.Index(rest, "-f"); i >= 0 && i+1 < len(rest) && (rest[i+1] == "wav" || rest[i+1] == "rif") {
			rest = slices.Delete(slices.Clone(rest), i, i+2)
		}
		return alone(slices.DeleteFunc(slices.Clone(rest), func(a string) bool { return a == "-p" }))
	case "sox":
		return soxFile(rest)
	case "ffmpeg":
		return ffmpegFile(rest)
	}
	return "", false
}

// alone is the only argument, a file.
func alone(args []string) (string, bool) {
	if len(args) != 1 || strings.HasPrefix(args[0], "-") || args[0] == "" {
		return "", false
	}
	return args[0], true
}

// isFlacOption says whether an argument says that a file is decoded to the output, and no more.
func isFlacOption(a string) bool {
	switch a {
	case "--decode", "--stdout", "--silent", "--totally-silent":
		return true
	}
	letters, short := strings.CutPrefix(a, "-")
	return short && letters != "" && strings.Trim(letters, "cds") == ""
}

// soxFile is F in: sox [-q] [-t TYPE] F -t wav -, without rates, channels or effects.
func soxFile(args []string) (string, bool) {
	args = slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a == "-q" })
	if len(args) > 2 && args[0] == "-t" {
		args = args[2:]
	}
	if len(args) == 4 && (args[1] == "-t" || args[1] == "--type") && args[2] == "wav" && args[3] == "-" {
		return alone(args[:1])
	}
	return "", false
}

// ffmpegFile is F in: ffmpeg -i F -f wav -, with options that change nothing of the sound.
func ffmpegFile(args []string) (file string, ok bool) {
	wav, out := false, false
	for i := 0; i < len(args); i++ {
		value := ""
		if i+1 < len(args) {
			value = args[i+1]
		}
		switch a := args[i]; a {
		case "-hide_banner", "-nostdin", "-y", "-nostats", "-vn":
			continue
		case "-loglevel", "-v":
		case "-i":
			if file != "" || value == "" || strings.HasPrefix(value, "-") {
				return "", false
			}
			file = value
		case "-f":
			if wav = value == "wav"; !wav || file == "" {
				return "", false
			}
		case "-acodec", "-c:a", "-codec:a":
			if value != "pcm_s16le" || file == "" {
				return "", false
			}
		case "-", "pipe:1", "pipe:":
			if out = i == len(args)-1; !out {
				return "", false
			}
			continue
		default:
			return "", false
		}
		i++
	}
	return file, wav && out && file != "" && !strings.Contains(file, "://")
}

// shellWords splits a command as a shell does; plain is false where it has anything of the shell's own but quotes and
// backslashes.
func shellWords(s string) (list []string, plain bool) {
	var word strings.Builder
	open, in := rune(0), false // the quote that is open; within a word
	for _, r := range s {
		switch {
		case open == 0 && strings.ContainsRune("|&;<>()$`*?[]{}~#!\n\\", r), open == '"' && strings.ContainsRune("$`\\", r):
			return nil, false
		case open == 0 && (r == '\'' || r == '"'):
			open, in = r, true
		case open == r:
			open = 0
		case open == 0 && (r == ' ' || r == '\t'):
			if in {
				list = append(list, word.String())
				word.Reset()
			}
			in = false
		default:
			in = true
			word.WriteRune(r)
		}
	}
	if in {
		list = append(list, word.String())
	}
	return list, open == 0
}
