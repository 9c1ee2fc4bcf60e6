package train

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
)

// What metrics.jsonl says in numbers goes to TensorBoard and MLflow as points of curves. A curve is called like its
// key: train/loss is loss of the records of updates, and what lies deeper has a group of its own, as train_memory/peak.

// points are the numbers of a record.
type points struct {
	event  string
	run    string    // whose it is
	update int       // that it is of; -1 where it doesn't say
	time   time.Time // when it was written
	list   []point   // in the order of their names
}

// point is one number.
type point struct {
	curve string
	value float64
}

// groups are the records that have curves, and how these begin.
var groups = map[string]string{"update": "train", "validation": "validation", "test": "test", "average": "average"}

// pointsOf reads a line of metrics.jsonl; nil where it has nothing for curves.
func pointsOf(line []byte) *points {
	var head struct{ Event, Time, Run string }
	var body map[string]any
	if json.Unmarshal(line, &head) != nil || json.Unmarshal(line, &body) != nil || groups[head.Event] == "" {
		return nil
	}
	at, err := time.Parse(time.RFC3339, head.Time)
	if err != nil {
		return nil
	}
	p := &points{event: head.Event, run: head.Run, update: -1, time: at}
	if n, ok := body["update"].(float64); ok {
		p.update = int(n)
		delete(body, "update")
	}
	p.add(groups[head.Event], body)
	if seconds, _ := body["seconds"].(float64); p.event == "update" && seconds > 0 {
		audio, _ := body["audio"].(float64)
		utterances, _ := body["utterances"].(float64)
		p.list = append(p.list, point{"train/real_time", audio / seconds}, point{"train/utterances_per_second", utterances / seconds})
	}
	return p
}

// add adds the numbers of an object, and those of the objects in it.
func (p *points) add(group string, object map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(object)) {
		switch x := object[key].(type) {
		case float64:
			p.list = append(p.list, point{group + "/" + key, x})
		case map[string]any:
			deeper := group + "_" + key
			if strings.Contains(group, "_") {
				deeper = group + "/" + key
			}
			p.add(deeper, x)
		}
	}
}

// eventOf is the kind of record that a curve comes from; "" for what comes from none.
func eventOf(curve string) string {
	group, _, _ := strings.Cut(curve, "/")
	group, _, _ = strings.Cut(group, "_")
	for event, name := range groups {
		if name == group {
			return event
		}
	}
	return ""
}

// tell hands a record on to what shows the run elsewhere.
func (r *run) tell(line []byte) {
	if r.board == nil && r.tracker == nil {
		return
	}
	if p := pointsOf(line); p != nil {
		r.board.tell(r, p)
		r.track(p)
	}
}

// indented is a configuration for people.
func indented(settings json.RawMessage) string {
	var text bytes.Buffer
	if json.Indent(&text, settings, "", "  ") != nil {
		return string(settings)
	}
	return text.String()
}
