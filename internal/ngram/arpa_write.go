package ngram

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WriteARPA writes the model as an ARPA file: the numbers of n-grams, and of each order the n-grams, one a line, with
// the log10 probability in front and the back-off weight behind, where it is not 0; between them tabs, and spaces
// between words. Words stand in the vocabulary's order, and n-grams in the order of their words. Numbers have as many
// digits as are needed to read the same ones. A comment, which may have several lines, stands in front, each line with
// a # as kenlm wants it; "" is none.
func (m *Model) WriteARPA(w io.Writer, comment string) error {
	b := bufio.NewWriterSize(w, 1<<16)
	for line := range strings.Lines(comment) {
		fmt.Fprintf(b, "# %s\n", strings.TrimRight(line, "\r\n"))
	}
	b.WriteString("\\data\\\n")
	for i, n := range m.levels {
		fmt.Fprintf(b, "ngram %d=%d\n", i+1, n)
	}
	for order := 1; order <= len(m.levels); order++ {
		fmt.Fprintf(b, "\n\\%d-grams:\n", order)
		for words, node := range m.all(order) {
			m.writeGram(b, words, node)
		}
	}
	b.WriteString("\n\\end\\\n")
	return b.Flush() // which has the first error of all
}

func (m *Model) writeGram(b *bufio.Writer, words []Word, node uint32) {
	prob, backoff := m.weights(node)
	number := func(x float32) { b.Write(strconv.AppendFloat(b.AvailableBuffer(), float64(x), 'g', -1, 32)) }
	number(prob)
	for i, w := range words {
		if i == 0 {
			b.WriteByte('\t')
		} else {
			b.WriteByte(' ')
		}
		b.Write(m.vocabulary.at(w))
	}
	if backoff != 0 {
		b.WriteByte('\t')
		number(backoff)
	}
	b.WriteByte('\n')
}
