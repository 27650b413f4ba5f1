package measure

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/gob"
	"fmt"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/measure/internal/adaptive"
)

// checkpoint is where a Stream is in its store.
type checkpoint struct {
	key   string
	claim string // what the stream is: another one has another name
	saved []byte // the value under key that the stream is as; nil where there is none
	known bool   // that it is
}

// streamRecord comes first in the value of a store: format and version.
const streamRecord = "metricdp.stream/1 "

// encoded is a stream in a store.
type encoded struct {
	Claim        string
	Unique       string // unlike that of any other value
	Records, Now int64
	Trees        [][]adaptive.Node // of the parts of the plan
	Private      [][]byte          // their counts, or none
	Pending      []byte
}

// open reads the stream from its store, if it has one.
func (s *Stream[P]) open(op string) error {
	s.arrivals = s.first()
	if s.opt.Store == nil {
		return nil
	}
	if s.opt.Name == "" {
		return fmt.Errorf("%s: a Store, and no Name", op)
	}
	s.key = fmt.Sprintf("stream-%x", sha256.Sum256([]byte(s.opt.Name)))
	b := s.blocks
	s.claim = fmt.Sprintf("%x %v %v %v %v %v %v %v %v %v", s.space.ID, s.eps, s.opt.Growth, s.opt.Least, s.opt.Halves, b.Relation, b.Levels, b.Shares, b.Prune, b.MaxCells)
	return s.refresh(op)
}

// first is a stream of nothing.
func (s *Stream[P]) first() arrivals[P] {
	_, next := s.opt.plan(0)
	return arrivals[P]{next: next, pending: s.empty()}
}

// refresh makes the stream what the store says it is.
func (s *Stream[P]) refresh(op string) error {
	if s.opt.Store == nil {
		return nil
	}
	value, ok, err := s.opt.Store.Load(s.key)
	if err != nil {
		s.known = false
		return fmt.Errorf("%s: Store.Load: %w", op, err)
	}
	if !ok {
		value = nil
	}
	if s.known && bytes.Equal(value, s.saved) {
		return nil
	}
	a := s.first()
	if ok {
		if a, err = s.decode(op, value); err != nil {
			return err
		}
	}
	s.arrivals, s.saved, s.known = a, slices.Clone(value), true
	return nil
}

// change does what step does to the stream, and stores it: then it is done, and bad is returned.
// Where the store holds what another one has made of the stream meanwhile, step is done again to
// that: what it drew before is in no release, and forgotten.
func (s *Stream[P]) change(op string, step func() error, bad error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range tries {
		if err := s.refresh(op); err != nil {
			return err
		}
		s.known = false // until it is stored
		if err := step(); err != nil || s.opt.Store == nil {
			return cmp.Or(err, bad)
		}
		value, err := s.encode()
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		swapped, failed := s.opt.Store.Swap(s.key, s.saved, value)
		if failed != nil || !swapped { // no two values are alike: if it is there, this one put it there
			now, ok, err := s.opt.Store.Load(s.key)
			swapped, failed = ok && bytes.Equal(now, value), cmp.Or(failed, err)
		}
		switch {
		case swapped:
			s.saved, s.known = value, true
			return bad
		case failed != nil:
			return fmt.Errorf("%s: Store.Swap: %w", op, failed)
		}
	}
	return fmt.Errorf("%s: the store refused %d changes, as others were faster", op, tries)
}

// tries are many: each that fails is one of another Stream that does not.
const tries = 1000

func (s *Stream[P]) encode() ([]byte, error) {
	e := encoded{Claim: s.claim, Unique: rand.Text(), Records: s.records, Now: s.now}
	for i, r := range s.shown {
		e.Trees = append(e.Trees, r.tree.Nodes)
		var counts []byte
		if c := s.private[i]; c != nil {
			counts = fault.Must(c.MarshalBinary())
		}
		e.Private = append(e.Private, counts)
	}
	e.Pending = fault.Must(s.pending.MarshalBinary())
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(e); err != nil {
		return nil, err
	}
	text := base64.StdEncoding.AppendEncode([]byte(streamRecord), b.Bytes())
	return fmt.Appendf(text, " %x", sha256.Sum256(text)), nil
}

func (s *Stream[P]) decode(op string, value []byte) (a arrivals[P], err error) {
	damaged := func(why any) error { return fmt.Errorf("%s: %w: %s: %v", op, mechanism.ErrRecord, s.key, why) }
	at := max(0, bytes.LastIndexByte(value, ' '))
	text := value[:at]
	if !bytes.HasPrefix(text, []byte(streamRecord)) || fmt.Sprintf(" %x", sha256.Sum256(text)) != string(value[at:]) {
		return a, damaged("no whole stream of this version")
	}
	b, err := base64.StdEncoding.AppendDecode(nil, text[len(streamRecord):])
	if err != nil {
		return a, damaged(err)
	}
	var e encoded
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&e); err != nil {
		return a, damaged(err)
	}
	if e.Claim != s.claim {
		return a, fmt.Errorf("%s: the store has a stream of this Name with other arguments, which were public and stay: another one needs another Name", op)
	}
	a = arrivals[P]{records: e.Records, now: e.Now}
	a.parts, a.next = s.opt.plan(a.now)
	if len(e.Trees) != len(a.parts) || len(e.Private) != len(a.parts) {
		return a, damaged("other parts than were planned")
	}
	counts := func(b []byte) (*Counts[P], error) {
		c := s.empty()
		return c, c.UnmarshalBinary(b)
	}
	for i, p := range a.parts {
		by, err := s.synthesizer(p)
		if err != nil {
			return a, fault.Within(op, err)
		}
		a.shown = append(a.shown, newRelease(by, &adaptive.Release{Budget: by.budget, Nodes: e.Trees[i]}))
		a.private = append(a.private, nil)
		if len(e.Private[i]) > 0 {
			if a.private[i], err = counts(e.Private[i]); err != nil {
				return a, damaged(err)
			}
		}
	}
	if a.pending, err = counts(e.Pending); err != nil {
		return a, damaged(err)
	}
	return a, nil
}
