package data

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"konkanitrain/data/feature"
)

func TestStatistics(t *testing.T) {
	s := spoken(t, 70)
	o := options8k(1).Feature
	one, err := Statistics(context.Background(), s, o, 1)
	if err != nil {
		t.Fatal(err)
	}
	three, err := Statistics(context.Background(), s, o, 3)
	if err != nil || !slices.Equal(one.Mean, three.Mean) || !slices.Equal(one.Deviation, three.Deviation) || one.Frames != three.Frames {
		t.Errorf("another number of workers, other statistics: %v", err)
	}
	frames := 0
	for _, u := range s.All() {
		frames += u.Frames
	}
	if one.Frames != int64(frames) || len(one.Mean) != 40 {
		t.Errorf("%d frames, want %d", one.Frames, frames)
	}
	o.Normalize, o.Stats = feature.Global, one
	lo := options8k(7)
	lo.Feature = o
	prints(t, newLoader(t, s, lo), 0, 0, 2)

	// What can't be read is left out and named; the others count as before.
	lost := s.At(65)
	os.Remove(lost.Path())
	less, err := Statistics(context.Background(), s, o, 3)
	if err != nil || less.Frames != one.Frames-int64(lost.Frames) {
		t.Errorf("without u65: %v, %v", less, err)
	}
	if news := s.News(); len(news) != 1 || news[0].ID != "u65" || !strings.Contains(news[0].String(), "65.wav") {
		t.Errorf("news %v", news)
	}
	for _, u := range some(s, 0, 10) {
		os.Remove(u.Path())
	}
	if _, err := Statistics(context.Background(), s, o, 3); err == nil || !strings.Contains(err.Error(), "11 of 70 lines are bad") {
		t.Errorf("eleven missing files: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Statistics(ctx, s, o, 3); err != context.Canceled {
		t.Errorf("canceled: %v", err)
	}
	if _, err := Statistics(context.Background(), &Set{}, o, 3); err == nil {
		t.Error("statistics of nothing")
	}
	o.NumMels = 0
	if _, err := Statistics(context.Background(), s, o, 3); err == nil || !strings.HasPrefix(err.Error(), "statistics: num_mels is 0") {
		t.Errorf("no bins: %v", err)
	}
}
