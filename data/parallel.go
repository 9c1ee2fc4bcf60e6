package data

import (
	"runtime"
	"strings"
	"sync"
)

// block is some lines of a text and what becomes of them.
type block struct {
	number  int // of its first line
	text    string
	entries []entry
	done    chan struct{} // closed when entries are there
}

// each parses the lines of a text that aren't blank, the first of which has a number, on several goroutines, and takes
// what becomes of them in their order. It ends early where the context does.
func (l *listing) each(t *textFile, number int, parse func(number int, line string) entry) error {
	workers := runtime.GOMAXPROCS(0)
	jobs, order := make(chan *block, workers), make(chan *block, 2*workers)
	free := make(chan []entry, 3*workers)
	var failed error
	go func() {
		defer close(order)
		defer close(jobs)
		for number := number; l.ctx.Err() == nil; {
			b, err := t.block()
			if len(b) == 0 || err != nil {
				failed = err
				return
			}
			next := &block{number: number, text: string(b), done: make(chan struct{})}
			number += strings.Count(next.text, "\n")
			order <- next
			jobs <- next
		}
	}()
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for b := range jobs {
				select {
				case b.entries = <-free:
				default:
				}
				b.entries = l.parseBlock(b, parse)
				close(b.done)
			}
		})
	}
	for b := range order {
		<-b.done
		for i := range b.entries {
			l.take(&b.entries[i])
		}
		clear(b.entries)
		select {
		case free <- b.entries[:0]:
		default:
		}
	}
	wait.Wait()
	return failed
}

func (l *listing) parseBlock(b *block, parse func(number int, line string) entry) []entry {
	entries, number := b.entries, b.number
	for line := range strings.Lines(b.text) {
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) != "" {
			entries = append(entries, parse(number, line))
			l.prepare(&entries[len(entries)-1])
		}
		number++
	}
	return entries
}
