package measure

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/metricdp/metricdp/internal/directed"
	"github.com/metricdp/metricdp/internal/fault"
	"github.com/metricdp/metricdp/internal/random"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/mechanism/measure/internal/region"
)

// Stream releases records that keep arriving: at any time there is a [Release] of all of them, and
// all releases ever made are together eps-private, with no horizon.
//
// Arrivals are cut into blocks at public counts: block j has those from n_j to n_(j+1) =
// max(n_j+Least, Growth*n_j), and is released once, by a [Synthesizer] of level eps, when it is
// whole. What is published is the mixture of all blocks, by their numbers of records. Later records
// ride on the last block until theirs is whole: only counted, and taken to be distributed as it is.
//
// # Guarantee
//
// Under [ReplaceOne] neighbors differ in the record at one position, which is in one block. To add
// or remove a record would move all later bounds: under [AddRemoveOne] blocks are therefore cut by
// a clock. [Stream.Tick] ends a day, say, at a public time, and n_j are numbers of ticks. Sizes of
// blocks are noised then, and a tick that rides counts as one of the last block. A person with k
// records in the stream has up to k*eps.
//
// # Error
//
// By the convexity of W1 the error is at most the mean of the blocks' own, and of the distance of
// riding records from the last block, by their numbers ([Stream.UpperBound]). Riding costs at most
// (Growth-1)/Growth of the diameter, and less with [StreamOptions.Halves] where records drift
// (BenchmarkStream).
//
// A Stream is safe for concurrent use. The zero value is refused. Memory holds the counts of
// records that are not released yet and the releases of some ln(n)/ln(Growth) blocks.
type Stream[P any] struct {
	d       *domain.Domain[P]
	space   *region.Space[P]
	eps     float64
	opt     StreamOptions
	blocks  SynthesizerOptions
	g       mechanism.Guarantee
	clocked bool // ticks count, not records

	mu           sync.Mutex
	synthesizers map[[2]int]*Synthesizer[P] // by halvings above a part, and those below
	arrivals[P]
	checkpoint
}

// arrivals are what a Stream has counted and released.
type arrivals[P any] struct {
	records int64  // counted
	now     int64  // records, or ticks
	next    int64  // when something is released again
	parts   []part // of the plan for now
	shown   []*Release[P]
	private []*Counts[P] // of parts of a block that is not whole yet, and of what is not drawn; else nil
	seeds   [][]byte     // of the noise of a part that is stored and not drawn; else nil
	pending *Counts[P]   // after the last part
}

// StreamOptions are for [NewStream]. Nil and zero mean the defaults.
type StreamOptions struct {
	// Growth is the quotient of two bounds of blocks, in [1.01, 16]; 0 means 1.25.
	Growth float64
	// Least is the least number of records in a block, or of ticks; 0 means 128 records or 1 tick.
	Least int
	// Halves, a number q in [0.1, 0.9] where not 0, releases the halves, quarters and so on of a
	// block too, so that fewer records ride: the block at level (1-q) eps, its halves at (1-q) q
	// eps, and so on, the last at q^i eps, while they have Least/q^i records (or ticks). A whole
	// part takes the place of what it is made of. 0.25 is for records that may drift.
	//
	// Growth = 2 and q in (2^(1-d), 1) keep, in d >= 2 dimensions and for eps <= 1, the order of
	// one release: if that of any m records at a level e errs by the order (m e)^(-1/d) in
	// expectation, a stream does by (n eps)^(-1/d) after any n (proof in stream.go).
	Halves float64
	// Blocks says how blocks are released, and which neighbors are protected. PerPerson must be 0.
	Blocks *SynthesizerOptions
	// Store keeps the stream under Name; nil is memory. A new Stream of the same store, name and
	// arguments goes on where the last one was, and several may be open: a block that is whole is
	// stored with a seed of 32 bytes from the rng, and whoever draws it then draws the same (in one
	// build of the library). The store and its copies are private: they hold such seeds and the
	// counts of blocks that are not released yet. Two copies in use, or one put back to an earlier
	// state, release blocks again, at eps each: a Stream that is open refuses to go back, unless 64
	// changes on there are no fewer records, and a new one cannot tell.
	Store mechanism.Store
	// Name is public: a key in the store is its hash.
	Name string
}

// NewStream returns a Stream at level eps, as in [NewSynthesizer], from the Store where there is
// one. Errors are *[metric.ValueError], *[metric.SizeError], those of the store, and
// [mechanism.ErrRecord] for what it holds.
func NewStream[P any](d *domain.Domain[P], eps float64, o *StreamOptions) (*Stream[P], error) {
	const op = "measure: NewStream"
	space, err := region.Of[P](op, d)
	if err != nil {
		return nil, err
	}
	s := &Stream[P]{d: d, space: space, eps: eps, opt: region.OrZero(o), synthesizers: map[[2]int]*Synthesizer[P]{}}
	s.blocks = region.OrZero(s.opt.Blocks)
	s.blocks.Levels, s.blocks.Shares = slices.Clone(s.blocks.Levels), slices.Clone(s.blocks.Shares) // read at later blocks too
	s.opt.Growth = cmp.Or(s.opt.Growth, 1.25)
	s.clocked = s.blocks.Relation == AddRemoveOne
	least := 128
	if s.clocked {
		least = 1
	}
	s.opt.Least = cmp.Or(s.opt.Least, least)
	switch q := s.opt.Halves; {
	case !(s.opt.Growth >= 1.01 && s.opt.Growth <= 16):
		return nil, fault.Value(op, "Growth", s.opt.Growth, "a number in [1.01, 16]")
	case s.opt.Least < 1:
		return nil, fault.Value(op, "Least", float64(s.opt.Least), "an integer >= 1")
	case q != 0 && !(q >= 0.1 && q <= 0.9):
		return nil, fault.Value(op, "Halves", q, "0, or a number in [0.1, 0.9]")
	case q != 0 && !(eps >= 1e-30): // for i halvings q^i >= 2^-63, or there are no records
		return nil, fault.Value(op, "eps", eps, "at least 1e-30 with Halves")
	case s.blocks.PerPerson != 0:
		return nil, fault.Value(op, "PerPerson", float64(s.blocks.PerPerson), "0: a person has eps for each record in the stream")
	}
	whole, err := s.synthesizer(part{})
	if err != nil {
		return nil, fault.Within(op, err)
	}
	if s.g = whole.Guarantee(); s.opt.Halves > 0 && s.g.Alpha() > 0 { // parts of a record spend more, up to eps
		s.g = fault.Must(mechanism.NewGuarantee(eps, 0, s.g.Unit()))
	}
	return s, s.open(op)
}

// Why Halves keep the order of one release, without a logarithm of n. Let d >= 2, eps <= 1, D the
// diameter, Growth 2, L Least and q in (2^(1-d), 1), and let a release of any m records at level e
// err by at most C (m e)^(-1/d) in expectation: Corollary 7.4 of BSV22 has it for Levels that suit m
// and e; for the default it is measured and not proved. n >= 2L is in the block of b records that
// begins at b, n/2 < b <= n. By convexity n times the error is at most the sum over parts of their
// records times their error.
//
//   - Whole blocks before have L, L, 2L, ..., b/2 records and levels of (1-q) eps at least: C
//     ((1-q) eps)^(-1/d) times the sum of m^(1-1/d), a geometric series: O(b^(1-1/d)).
//   - Of the block at hand there is one part at most of each size b/2^i, at (1-q) q^i eps or more:
//     C b (b (1-q) eps)^(-1/d) times the sum of r^i, r = 2^(-(1-1/d)) q^(-1/d) < 1.
//   - Fewer records than the smallest part has, and one, ride. Halving goes on while floor(b/2^i)
//     q^i >= L, so the last i has (q/2)^(i+1) < (L+1)/b and, as q/2 > 2^(-d), the smallest part at
//     most 2 b ((L+1)/b)^(1/d) + 1 records. What rides costs D each, and adds so many to the weight
//     of the last part, whose error in the sums above is at most doubled.
//
// All are O(b^(1-1/d) eps^(-1/d)), with constants of C, D, q, L and d alone; divide by n >= b. For
// eps > 1 the last sum has no eps: the order is n^(-1/d).

// part is a run of arrivals that is released at once: a block halved some times, of as many as it
// will be.
type part struct {
	from, to      int64
	halved, depth int
}

// level is that of a part: q^i eps for the last, and (1-q) q^i eps for i before, rounded down. The
// sum for a block, (1-q)(1 + q + ... + q^(D-1)) + q^D, is 1.
func (s *Stream[P]) level(p part) float64 {
	e, q := s.eps, s.opt.Halves
	for range p.halved {
		e = directed.MulDown(e, q)
	}
	if p.halved < p.depth {
		e = directed.MulDown(e, directed.SubDown(1, q))
	}
	return e
}

func (s *Stream[P]) synthesizer(p part) (*Synthesizer[P], error) {
	key := [2]int{p.halved, min(1, p.depth-p.halved)}
	if s.synthesizers[key] == nil {
		made, err := NewSynthesizer(s.d, s.level(p), &s.blocks)
		if err != nil {
			return nil, err
		}
		s.synthesizers[key] = made
	}
	return s.synthesizers[key], nil
}

// block returns where the block ends that begins at from, and how often it is halved.
func (o *StreamOptions) block(from int64) (to int64, depth int) {
	to = math.MaxInt64
	if next := math.Ceil(o.Growth * float64(from)); next < 1<<62 {
		to = max(from+int64(o.Least), int64(next))
	}
	for q := o.Halves; o.Halves > 0 && float64((to-from)>>(depth+1))*q >= float64(o.Least); q *= o.Halves {
		depth++
	}
	return to, depth
}

// plan returns the parts that are published when so many have arrived, and when the next one is
// whole, by public numbers alone. Of a block that is not whole there is at most one part of each
// size, as in the binary notation of its number of smallest parts: so the last part alone is new,
// and takes the place of all within it.
func (o *StreamOptions) plan(now int64) (parts []part, next int64) {
	from := int64(0)
	to, depth := o.block(from)
	for ; to <= now; to, depth = o.block(from) {
		parts = append(parts, part{from, to, 0, depth})
		from = to
	}
	at := func(k uint64) int64 { // where k smallest parts end
		hi, lo := bits.Mul64(uint64(to-from), k)
		return from + int64(hi<<(64-depth)|lo>>depth)
	}
	done := uint64(0)
	for i := 1; i <= depth; i++ {
		if k := done + 1<<(depth-i); at(k) <= now {
			parts = append(parts, part{at(done), at(k), i, depth})
			done = k
		}
	}
	return parts, at(done + 1)
}

func (s *Stream[P]) check(op string) error {
	return fault.Made(s != nil && s.d != nil, op, "Stream", "NewStream")
}

// Guarantee is the level of everything that a Stream ever releases, per record replaced, or per
// record added or removed. That of a zero Stream promises nothing.
func (s *Stream[P]) Guarantee() mechanism.Guarantee {
	if s == nil {
		return mechanism.Guarantee{}
	}
	return s.g
}

// String gives the guarantee, the blocks and the domain, and nothing of the records.
func (s *Stream[P]) String() string {
	if s.check("") != nil {
		return "no stream"
	}
	return fmt.Sprintf("%v, in blocks that grow by %v, on a %v", s.g, s.opt.Growth, s.d)
}

// Len returns the number of records that were counted, which is private under AddRemoveOne, those
// of the tick under way included, and that of ticks. After a restart, or an error of the store, it
// says where to go on.
func (s *Stream[P]) Len() (records, ticks int64, err error) {
	const op = "measure: Stream.Len"
	if err := s.check(op); err != nil {
		return 0, 0, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(op); err != nil {
		return 0, 0, err
	}
	if s.clocked {
		ticks = s.now
	}
	return s.records, ticks, nil
}

// Add counts records, in the order of their arrival, and releases the blocks that they make whole.
// With a Store all are counted when it returns nil, and all or none when it returns an error:
// [Stream.Len] says which. Each Add stores the whole stream, some .3 MB on the line after 100,000
// records.
//
// A record without a cell is the error of [domain.Domain.Cell], and none are counted. Under
// ReplaceOne every Add is [ErrSkipped] from then on, as to leave it out would move all records
// after it, and what was released stays. O(cost of Cell) a record, and a Synthesizer's release a
// part.
func (s *Stream[P]) Add(rng *rand.Rand, records []P) error {
	const op = "measure: Stream.Add"
	if err := s.check(op); err != nil {
		return err
	}
	cells, i, bad := locateAll(s.space, records, false)
	if bad != nil {
		if bad = fmt.Errorf("%s: record %d: %w", op, i, bad); s.clocked {
			return bad
		}
	}
	return s.change(op, func() error {
		if s.pending.skipped {
			return fmt.Errorf("%s: %w", op, ErrSkipped)
		}
		s.pending.skipped = bad != nil
		for _, c := range cells {
			s.pending.add(c, 1) // fewer than 2^63
			if s.records++; !s.clocked {
				if err := s.advance(rng); err != nil {
					return err
				}
			}
		}
		return nil
	}, bad)
}

// Tick ends a unit of the clock, under AddRemoveOne: what was added since the last one belongs to
// it, and a block that it makes whole is released. When it is called must be public. Under
// ReplaceOne it is an error.
func (s *Stream[P]) Tick(rng *rand.Rand) error {
	const op = "measure: Stream.Tick"
	if err := s.check(op); err != nil {
		return err
	}
	if !s.clocked {
		return fault.Value(op, "Relation", float64(ReplaceOne), "AddRemoveOne: blocks are cut by the number of records")
	}
	return s.change(op, func() error { return s.advance(rng) }, nil)
}

// advance moves the clock on, and releases the part that is whole then.
func (s *Stream[P]) advance(rng *rand.Rand) error {
	if s.now++; s.now < s.next {
		return nil
	}
	parts, next := s.opt.plan(s.now)
	last := len(parts) - 1
	counts := s.pending
	for _, c := range s.private[last:] { // of what the last part is made of
		if err := counts.Merge(c); err != nil {
			return err
		}
	}
	s.parts, s.next, s.pending = parts, next, s.empty()
	s.shown, s.private, s.seeds = append(s.shown[:last], nil), append(s.private[:last], counts), append(s.seeds[:last], nil)
	if s.opt.Store == nil {
		return s.draw(rng, last)
	}
	rng, done := random.Get(rng)
	defer done()
	for range 4 {
		s.seeds[last] = binary.LittleEndian.AppendUint64(s.seeds[last], rng.Uint64())
	}
	return nil
}

// draw releases part i.
func (s *Stream[P]) draw(rng *rand.Rand, i int) error {
	by, err := s.synthesizer(s.parts[i])
	if err != nil {
		return err
	}
	if s.shown[i], err = by.Release(rng, s.private[i]); err != nil {
		return err
	}
	if s.seeds[i] = nil; s.parts[i].halved == 0 {
		s.private[i] = nil
	}
	return nil
}

// empty are counts of nothing, of records of anybody.
func (s *Stream[P]) empty() *Counts[P] {
	c := NewCounts(s.d)
	c.loose = true
	return c
}

// Release returns the mixture of what was released until now; it draws nothing and costs nothing.
// Its Total is the number of all records, or its estimate. A block's mass is spread over its
// regions by the number of cells. Release.Error is about the noise of the blocks and says nothing
// of records that ride. Before a block is whole the error is [metric.ErrEmpty]. O(regions of all
// blocks).
func (s *Stream[P]) Release() (*Release[P], error) {
	const op = "measure: Stream.Release"
	if err := s.check(op); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(op); err != nil {
		return nil, err
	}
	if err := fault.Empty(op, "the blocks that are whole", len(s.shown)); err != nil {
		return nil, err
	}
	weights := make([]float64, len(s.shown))
	for i, p := range s.parts {
		weights[i] = s.shown[i].tree.Nodes[0].Mass
		if i == len(s.parts)-1 { // as exact as numbers of records are
			weights[i] = weights[i] / float64(p.to-p.from) * float64(s.now-p.from)
		}
	}
	return mix(s.shown, weights), nil
}

// UpperBound bounds the expected W1 distance between the first so many records, whatever they are,
// and what Release publishes then: the mean of [Synthesizer.UpperBound] of the parts, and of the
// diameter for records that ride. It reads no data, and needs Levels without Prune, and ReplaceOne.
// O(blocks*regions).
func (s *Stream[P]) UpperBound(records float64) (float64, error) {
	const op = "measure: Stream.UpperBound"
	if err := s.check(op); err != nil {
		return 0, err
	}
	if s.clocked {
		return 0, fault.Value(op, "Relation", float64(AddRemoveOne), "ReplaceOne: sizes of blocks are not known before")
	}
	if !(records >= 1 && records <= 1<<53) {
		return 0, fault.Value(op, "records", records, "a number in [1, 2^53]")
	}
	now := int64(records)
	parts, next := s.opt.plan(now)
	if len(parts) == 0 {
		return 0, fault.Value(op, "records", records, fmt.Sprintf("at least %d: nothing is released before", next))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	diameter, _ := s.space.Size(region.Node{})
	// A sum of a few thousand terms >= 0, for RoundUp; and masses of parts, added and rounded.
	sum, slack := float64(diameter*float64(now-parts[len(parts)-1].to)), float64(len(parts)+8)*0x1p-50
	for _, p := range parts {
		by, err := s.synthesizer(p)
		if err != nil {
			return 0, fault.Within(op, err)
		}
		bound, err := by.UpperBound(float64(p.to - p.from))
		if err != nil {
			return 0, fault.Within(op, err)
		}
		sum += float64(bound * float64(p.to-p.from))
	}
	return min(diameter, sum/float64(now)+float64(diameter*slack)) * region.RoundUp, nil
}
