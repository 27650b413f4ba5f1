package measure

import (
	"bytes"
	"cmp"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/gob"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/measure/internal/adaptive"
)

// checkpoint is where a Stream is in its store.
type checkpoint struct {
	key     string
	claim   string   // what the stream is: another one has another name
	saved   []byte   // the value under key, when it was last read or written; nil where there was none
	changes []string // the last ones that made it
	current bool     // the stream is as the value; without a store, the last change came to its end
	reached int64    // the most records and ticks that the store had
}

// remembered is how many changes a value names.
const remembered = 64

// streamRecord comes first in the value of a store: format and version.
const streamRecord = "metricdp.stream/2 "

// encoded is a stream in a store.
type encoded struct {
	Claim        string
	Changes      []string // the last ones, each unlike all others
	Records, Now int64
	Trees        [][]adaptive.Node // of the parts of the plan
	Private      [][]byte          // their counts, or none
	Seeds        [][]byte          // of those that have no tree yet
	Pending      []byte
}

// open reads the stream from its store, if it has one.
func (s *Stream[P]) open(op string) error {
	s.arrivals = s.first()
	if s.opt.Store == nil {
		s.current = true
		return nil
	}
	if s.opt.Name == "" {
		return fmt.Errorf("%s: a Store, and no Name", op)
	}
	s.key = fmt.Sprintf("stream-%x", sha256.Sum256([]byte(s.opt.Name)))
	b := s.blocks
	s.claim = fmt.Sprintf("%x %v %v %v %v %v %#v %v %v %v", s.space.ID, s.eps, s.opt.Growth, s.opt.Least, s.opt.Halves, b.Relation, b.Levels, b.Shares, b.Prune, b.MaxCells)
	return s.refresh(op)
}

// first is a stream of nothing.
func (s *Stream[P]) first() arrivals[P] {
	_, next := s.opt.plan(0)
	return arrivals[P]{next: next, pending: s.empty()}
}

// refresh makes the stream what the store says it is. What is whole there and not drawn it draws
// and stores before anything is published: counts and seed are the same for all, and so is the
// draw.
func (s *Stream[P]) refresh(op string) error {
	if s.opt.Store == nil {
		if !s.current { // the rng panicked: some may be counted twice
			return fmt.Errorf("%s: an earlier change of the stream did not come to its end", op)
		}
		return nil
	}
	for range tries {
		value, ok, err := s.opt.Store.Load(s.key)
		if err != nil {
			return fmt.Errorf("%s: Store.Load: %w", op, err)
		}
		if !ok {
			value = nil
		}
		if s.current && bytes.Equal(value, s.saved) {
			return nil
		}
		a, changes := s.first(), []string(nil)
		if ok {
			if a, changes, err = s.decode(op, value); err != nil {
				return err
			}
		}
		if a.records+a.now < s.reached || len(changes) < remembered && !follows(changes, s.changes) {
			return fmt.Errorf("%s: %w: %s: the store was put back to an earlier state", op, mechanism.ErrRecord, s.key)
		}
		s.arrivals, s.saved, s.changes, s.reached = a, slices.Clone(value), changes, a.records+a.now
		if s.current = s.drawn(); s.current {
			return nil
		}
		for i, seed := range s.seeds {
			if seed != nil {
				if err := s.draw(rand.New(rand.NewChaCha8([32]byte(seed))), i); err != nil {
					return fault.Within(op, err)
				}
			}
		}
		value, err = s.encode(changes)
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		swapped, err := s.opt.Store.Swap(s.key, s.saved, value)
		if err != nil {
			return fmt.Errorf("%s: Store.Swap: %w", op, err)
		}
		if swapped {
			s.saved, s.current = value, true
			return nil
		}
	}
	return s.busy(op)
}

// drawn tells whether all parts are.
func (a *arrivals[P]) drawn() bool {
	return !slices.ContainsFunc(a.seeds, func(seed []byte) bool { return seed != nil })
}

// change does what step does to the stream, and stores it: then it is done, and bad is returned.
// Where another has changed the store meanwhile, step is done again. What is whole is drawn after
// it is stored, now or by whoever comes next.
func (s *Stream[P]) change(op string, step func() error, bad error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range tries {
		if err := s.refresh(op); err != nil {
			return err
		}
		s.current = false // until it is stored
		if err := step(); err != nil || s.opt.Store == nil {
			s.current = s.opt.Store == nil
			return cmp.Or(err, bad)
		}
		before, id := s.changes, crand.Text()
		changes := append(slices.Clone(before[max(0, len(before)-remembered+1):]), id)
		value, err := s.encode(changes)
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		swapped, failed := s.opt.Store.Swap(s.key, s.saved, value)
		if swapped && failed == nil {
			s.saved, s.changes, s.current, s.reached = value, changes, s.drawn(), s.records+s.now
			if !s.current {
				s.refresh(op) // an error of which comes again
			}
			return bad
		}
		// It may have been done, and others may have gone on from there.
		if failed != nil {
			failed = fmt.Errorf("%s: Store.Swap: %w", op, failed)
		}
		if err := s.refresh(op); err != nil {
			return cmp.Or(failed, err)
		}
		switch {
		case slices.Contains(s.changes, id):
			return bad
		case failed != nil:
			return failed
		case len(s.changes) == remembered && !(len(before) > 0 && follows(s.changes, before)):
			return fmt.Errorf("%s: the store refused a change, and others made so many meanwhile that it cannot be told whether it did", op)
		}
	}
	return s.busy(op)
}

func (s *Stream[P]) busy(op string) error {
	return fmt.Errorf("%s: the store refused %d changes, as others were faster", op, tries)
}

// follows tells whether what made a value is among the last changes, or nothing made it.
func follows(changes, before []string) bool {
	return len(before) == 0 || slices.Contains(changes, before[len(before)-1])
}

// tries are many: each that fails is one of another Stream that does not.
const tries = 1000

func (s *Stream[P]) encode(changes []string) ([]byte, error) {
	e := encoded{Claim: s.claim, Changes: changes, Records: s.records, Now: s.now}
	e.Seeds = s.seeds
	for i, r := range s.shown {
		var tree []adaptive.Node
		if r != nil {
			tree = r.tree.Nodes
		}
		var counts []byte
		if c := s.private[i]; c != nil {
			counts = fault.Must(c.MarshalBinary())
		}
		e.Trees, e.Private = append(e.Trees, tree), append(e.Private, counts)
	}
	e.Pending = fault.Must(s.pending.MarshalBinary())
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(e); err != nil {
		return nil, err
	}
	text := base64.StdEncoding.AppendEncode([]byte(streamRecord), b.Bytes())
	return append(text, s.checksum(text)...), nil
}

// checksum is of the key too.
func (s *Stream[P]) checksum(text []byte) string {
	return fmt.Sprintf(" %x", sha256.Sum256(append([]byte(s.key+" "), text...)))
}

func (s *Stream[P]) decode(op string, value []byte) (a arrivals[P], changes []string, err error) {
	damaged := func(why any) error { return fmt.Errorf("%s: %w: %s: %v", op, mechanism.ErrRecord, s.key, why) }
	at := max(0, bytes.LastIndexByte(value, ' '))
	text := value[:at]
	if !bytes.HasPrefix(text, []byte(streamRecord)) || s.checksum(text) != string(value[at:]) {
		return a, nil, damaged("no whole stream of this version")
	}
	b, err := base64.StdEncoding.AppendDecode(nil, text[len(streamRecord):])
	if err != nil {
		return a, nil, damaged(err)
	}
	var e encoded
	if err := gob.NewDecoder(bytes.NewReader(b)).Decode(&e); err != nil {
		return a, nil, damaged(err)
	}
	if e.Claim != s.claim {
		return a, nil, fmt.Errorf("%s: the store has a stream of this Name with other arguments, which were public and stay: another one needs another Name", op)
	}
	a = arrivals[P]{records: e.Records, now: e.Now}
	a.parts, a.next = s.opt.plan(a.now)
	if len(e.Trees) != len(a.parts) || len(e.Private) != len(a.parts) || len(e.Seeds) != len(a.parts) {
		return a, nil, damaged("other parts than were planned")
	}
	counts := func(b []byte) (*Counts[P], error) {
		c := s.empty()
		return c, c.UnmarshalBinary(b)
	}
	for i, p := range a.parts {
		by, err := s.synthesizer(p)
		if err != nil {
			return a, nil, fault.Within(op, err)
		}
		a.shown, a.private, a.seeds = append(a.shown, nil), append(a.private, nil), append(a.seeds, nil)
		switch {
		case len(e.Seeds[i]) == 32 && len(e.Private[i]) > 0:
			a.seeds[i] = e.Seeds[i]
		case len(e.Seeds[i]) == 0 && len(e.Trees[i]) > 0:
			a.shown[i] = newRelease(by, &adaptive.Release{Budget: by.budget, Nodes: e.Trees[i]})
		default:
			return a, nil, damaged("a part that is neither drawn nor to be")
		}
		if len(e.Private[i]) > 0 {
			if a.private[i], err = counts(e.Private[i]); err != nil {
				return a, nil, damaged(err)
			}
		}
	}
	if a.pending, err = counts(e.Pending); err != nil {
		return a, nil, damaged(err)
	}
	return a, e.Changes, nil
}
