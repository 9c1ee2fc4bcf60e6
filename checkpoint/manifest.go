package checkpoint

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// format is the version of the layout of trainer.json and of the files beside it.
const format = "konkanitrain checkpoint 1"

// manifest is trainer.json.
type manifest struct {
	Format string              `json:"format"`
	Step   int                 `json:"step"`
	Files  map[string]fileInfo `json:"files"`
	State  json.RawMessage     `json:"state"`
	SHA256 string              `json:"sha256,omitempty"` // of all the text before it: see seal
}

type fileInfo struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// encode writes the manifest as indented JSON whose last key is the checksum of all the text before it. The state has
// to be JSON.
func (m manifest) encode() []byte {
	m.SHA256 = ""
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	enc.Encode(m) // JSON, strings and numbers into memory: can't go wrong
	body := bytes.TrimSuffix(text.Bytes(), []byte("\n}\n"))
	return append(body, seal(body)...)
}

// marshal is json.Marshal, but leaves <, > and & as they are: vocabularies have entries like <sos>.
func marshal(v any) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return text.Bytes(), err
}

// seal is the end of trainer.json: the checksum of what comes before, and the closing brace.
func seal(body []byte) []byte {
	sum := sha256.Sum256(body)
	return []byte(",\n  \"sha256\": \"" + hex.EncodeToString(sum[:]) + "\"\n}\n")
}

// decode checks the checksum and reads the manifest. Every byte is covered: the seal has one spelling only.
func decode(text []byte) (*manifest, error) {
	at := len(text) - len(seal(nil))
	if at < 0 || !bytes.Equal(text[at:], seal(text[:at])) {
		return nil, errors.New("its checksum doesn't match its text: it was cut short or changed")
	}
	return parse(text)
}

// parse reads the manifest's JSON and checks that it says all it has to.
func parse(text []byte) (*manifest, error) {
	var header struct {
		Format string `json:"format"`
	}
	if err := json.Unmarshal(text, &header); err != nil { // all of the text is JSON then
		return nil, err
	}
	if header.Format != format {
		return nil, fmt.Errorf("its format is %.60q, and this program reads %q", header.Format, format)
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var m manifest
	if err := dec.Decode(&m); err != nil {
		return nil, err
	}
	if m.Step < 0 {
		return nil, fmt.Errorf("step %d", m.Step)
	}
	if len(m.State) == 0 {
		return nil, errors.New("no state")
	}
	if len(m.Files) != 2 {
		return nil, fmt.Errorf("%d files listed, and a checkpoint has %s and %s", len(m.Files), ModelFile, OptimizerFile)
	}
	for _, name := range []string{ModelFile, OptimizerFile} {
		info := m.Files[name]
		if sum, err := hex.DecodeString(info.SHA256); err != nil || len(sum) != sha256.Size || info.Bytes < 0 {
			return nil, fmt.Errorf("no size and checksum of %s", name)
		}
	}
	return &m, nil
}
