package watch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"time"

	"konkanitrain/data/text"
	"konkanitrain/internal/control"
	"konkanitrain/internal/scores"
)

// serveMemory sends who holds which memory of a run.
func (s *Server) serveMemory(w http.ResponseWriter, r *http.Request) {
	run := s.asked(w, r)
	if run == nil {
		return
	}
	a, err := s.memory(run)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	send(w, r, jsonKind, a)
}

// memory is what a run holds now, if it is in progress, and over a step. It is made once for all who look.
func (s *Server) memory(run *shown) (*answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	run.ask()
	if run.memory != nil {
		return run.memory, nil
	}
	run.readStep()
	body, err := json.Marshal(struct {
		Now  *control.Info `json:"now"`
		Step *Step         `json:"step"`
	}{run.info, run.step})
	if err != nil {
		return nil, err
	}
	run.memory = newAnswer(body)
	return run.memory, nil
}

// worstUtterance is one of the worst, for the page.
type worstUtterance struct {
	Name     string        `json:"name"`
	Where    string        `json:"where"` // manifest and line
	Seconds  float64       `json:"seconds"`
	Speaker  string        `json:"speaker,omitempty"`
	Loss     *float64      `json:"loss"`
	Words    text.Counts   `json:"words"`
	Chars    text.Counts   `json:"chars"`
	Together []scores.Pair `json:"together"` // reference and hypothesis, aligned by clusters
}

// worstList is a validation with its worst utterances, for the page.
type worstList struct {
	Updates    []int            `json:"updates"` // those with a validation
	Update     int              `json:"update"`
	Utterances int              `json:"utterances"`
	Wrong      int              `json:"wrong"`
	Failed     int              `json:"failed"`
	Worst      []worstUtterance `json:"worst"`
}

// serveWorst sends the worst utterances of a validation, the last one where none is named.
func (s *Server) serveWorst(w http.ResponseWriter, r *http.Request) {
	run := s.asked(w, r)
	if run == nil {
		return
	}
	update, err := whole(r.URL.Query(), "update", -1, 0, math.MaxInt)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	a, err := s.worst(run, update)
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	send(w, r, jsonKind, a)
}

// worst is the list of a validation, the last one for -1. It is made once for all who look.
func (s *Server) worst(run *shown, update int) (*answer, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	if a := run.worst[update]; a != nil {
		return a, nil
	}
	v, err := run.validation(update)
	if err != nil {
		return nil, err
	}
	list := worstList{Updates: run.validations.updates(), Worst: []worstUtterance{}}
	if v != nil {
		list.Update, list.Utterances, list.Wrong, list.Failed = v.Update, v.Utterances, v.Wrong, v.Failed
		for _, u := range v.Worst {
			list.Worst = append(list.Worst, worstUtterance{
				Name: u.ID, Where: fmt.Sprintf("%s:%d", u.Manifest, u.Line), Seconds: u.Seconds, Speaker: u.Speaker, Loss: u.Loss, Words: u.Words,
				Chars: u.Chars, Together: scores.AlignClusters(u.Reference, u.Hypothesis),
			})
		}
	}
	body, err := json.Marshal(list)
	if err != nil {
		return nil, err
	}
	if len(run.worst) >= mostBuilt {
		clear(run.worst)
	}
	a := newAnswer(body)
	run.worst[update] = a
	return a, nil
}

// serveSound sends one of the worst utterances as a WAV file: nothing but these, and nothing that isn't sound.
func (s *Server) serveSound(w http.ResponseWriter, r *http.Request) {
	run := s.asked(w, r)
	if run == nil {
		return
	}
	q := r.URL.Query()
	update, err := whole(q, "update", -1, 0, math.MaxInt)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	s.mu.Lock()
	s.refresh()
	v, err := run.validation(update)
	s.mu.Unlock()
	switch {
	case err != nil:
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	case v == nil || len(v.Worst) == 0:
		refuse(w, http.StatusNotFound, "no utterances are listed after that update")
		return
	}
	n, err := whole(q, "utterance", -1, 0, len(v.Worst)-1)
	if err != nil || n < 0 {
		refuse(w, http.StatusNotFound, fmt.Sprintf("want an utterance from 0 to %d", len(v.Worst)-1))
		return
	}
	s.sendSound(w, r, run, &v.Worst[n])
}

// sendSound sends an utterance when there is a place for it.
func (s *Server) sendSound(w http.ResponseWriter, r *http.Request, run *shown, u *scores.Utterance) {
	select {
	case s.sounds <- struct{}{}:
		defer func() { <-s.sounds }()
	case <-r.Context().Done():
		return
	case <-time.After(soundWait):
		w.Header().Set("Retry-After", "5")
		refuse(w, http.StatusServiceUnavailable, "too many sounds at a time")
		return
	}
	s.decoding.Lock()
	wav, err := run.sound(u)
	s.decoding.Unlock()
	if err != nil {
		refuse(w, http.StatusNotFound, err.Error())
		return
	}
	w.Header().Set("Content-Type", "audio/wav")
	w.Header().Set("Cache-Control", "private, max-age=600")
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(wav))
}

// sound is an utterance as a WAV file. What is wrong is said without a path that isn't in the list anyway.
func (r *shown) sound(u *scores.Utterance) ([]byte, error) {
	if r.Find != nil {
		if found := r.Find(u); found != nil {
			return clip(found)
		}
	}
	found, err := fileOf(u)
	if err != nil {
		return nil, err
	}
	return clip(found)
}
