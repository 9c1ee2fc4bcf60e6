package checkpoint

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// ErrPyTorch is the error of opening a file that PyTorch has saved.
var ErrPyTorch = errors.New("a checkpoint of PyTorch's, which this program can't read: train anew, or write the weights " +
	"of a network of the same shapes to a .safetensors file (safetensors.torch.save_file), under the names that " +
	"a model.safetensors of this program has, and start a new run with --init_from and that file")

// PyTorch says whether a file is one that torch.save has made: a ZIP archive with a data.pkl, or, before version 1.6, a
// pickle. Nothing but its first bytes is looked at.
func PyTorch(path string) bool {
	if stat, err := os.Stat(path); err != nil || !stat.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 512)
	n, _ := io.ReadFull(f, head)
	head = head[:n]
	const zip, pickle = "PK\x03\x04", "\x80\x02" // and what is in them from the start
	return bytes.HasPrefix(head, []byte(zip)) && bytes.Contains(head, []byte("data.pkl")) ||
		bytes.HasPrefix(head, []byte(pickle)) && bytes.Contains(head, []byte("\x6c\xfc\x9c\x46\xf9\x20\x6a\xa8\x50\x19")) // torch's magic number
}
