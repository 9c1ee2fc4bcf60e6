package words

import "testing"

func TestParseBytes(t *testing.T) {
	for text, want := range map[string]int64{
		"2000000": 2e6, "2GiB": 2 << 30, "14.74GiB": 15826954485, "500MB": 500e6, " 1.5 kib ": 1536, "3g": 3e9, "7B": 7, "0.5k": 500, "1TiB": 1 << 40,
	} {
		if got, err := ParseBytes(text); got != want || err != nil {
			t.Errorf("%q is %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "GiB", "0", "1", "80", "1048575", "0.4", "-1", "1e3", "2 Gi B", "1.2.3MB", "9999999TiB", "auto", "2GiB!", "Inf"} {
		if got, err := ParseBytes(text); err == nil {
			t.Errorf("%q is %d, want an error", text, got)
		}
	}
}

func TestBinary(t *testing.T) {
	for n, want := range map[int64]string{
		0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 1024: "1.0 KiB", 1 << 20: "1.0 MiB", 1<<20 - 1: "1.0 MiB", 332 << 20: "332.0 MiB",
		1<<30 - 1: "1.00 GiB", 15826954485: "14.74 GiB",
	} {
		if got := Binary(n); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func FuzzParseBytes(f *testing.F) {
	for _, text := range []string{"2GiB", "14.74 gib", "1e400", ".", "99999999999999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if n, err := ParseBytes(text); err == nil && n < 1 {
			t.Errorf("%q is %d bytes", text, n)
		}
	})
}
