package privatebeam

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/metricdp/metricdp/mechanism/measure"
	"github.com/metricdp/metricdp/mechanism/measure/domain"
	"github.com/metricdp/metricdp/metric"
)

// A Domain describes a [domain.Domain] so that every worker can build the same
// one. It is a value that survives encoding/json, such as a struct of exported
// fields, made of public knowledge alone. [Box] and [Sphere] are two; others are
// registered with [RegisterDomain].
type Domain[R any] interface {
	Domain() (*domain.Domain[R], error)
}

// Box describes [domain.NewBox]. A box with a Taxonomy or with
// BoxOptions.Possible, which have no JSON, needs a Domain of your own, whose
// method knows them.
type Box struct {
	Columns []domain.Column
	// Depth, Splits, P and Outside are those of [domain.BoxOptions]. P must not be
	// +Inf, which has no JSON; its default 0 means the same.
	Depth   float64
	Splits  [][]int
	P       float64
	Outside domain.Outside
}

// Domain builds the box.
func (b Box) Domain() (*domain.Domain[[]float64], error) {
	return domain.NewBox(b.Columns, &domain.BoxOptions{Depth: b.Depth, Splits: b.Splits, P: b.P, Outside: b.Outside})
}

// Sphere describes [domain.NewSphere].
type Sphere struct {
	Radius float64
	Cells  domain.SphereOptions
}

// Domain builds the sphere.
func (s Sphere) Domain() (*domain.Domain[metric.LatLon], error) {
	return domain.NewSphere(s.Radius, &s.Cells)
}

// SyntheticOptions are the settings of [SyntheticData] and [SyntheticPersons]; nil
// and zeros mean the defaults.
type SyntheticOptions struct {
	// Release are the settings of the Synthesizer: the neighbors that are
	// protected, and how regions are divided.
	Release measure.SynthesizerOptions
	// Records is how many synthetic records to make; 0 means as many as there are
	// originals, by the noisy count under AddRemoveOne.
	Records int
	// Output are the options of [measure.Release.Records].
	Output measure.RecordOptions
	// SkipErrors leaves out records that have no cell, where the default fails the
	// pipeline. It needs AddRemoveOne, as [measure.CountOptions] says.
	SkipErrors bool
	// Key and KeyFile are as in [Options].
	Key     Key
	KeyFile string
}

// SyntheticData turns a PCollection<R> of records, each a person's, in the global window,
// into a PCollection<R> of synthetic records, eps-private as [measure.Synthesizer] says.
// Cells with records, at some 32 bytes each, and the synthetic records must fit one worker.
// An error is one of arguments; what is wrong with the data, such as a record without a
// cell, fails the pipeline.
func SyntheticData[R any, D Domain[R]](s beam.Scope, d D, eps float64, records beam.PCollection, o *SyntheticOptions) (beam.PCollection, error) {
	const op = "privatebeam: SyntheticData"
	if o == nil {
		o = &SyntheticOptions{}
	}
	if o.Release.PerPerson != 0 {
		return beam.PCollection{}, fmt.Errorf("%s: PerPerson is for SyntheticPersons, which is told whose the records are", op)
	}
	if err := batch(op, records); err != nil {
		return beam.PCollection{}, err
	}
	release, err := newRelease(op, d, eps, o)
	if err != nil {
		return beam.PCollection{}, err
	}
	s = s.Scope("privatebeam.SyntheticData")
	return release.of(s, beam.Combine(s, &countFn[R, D]{Domain: d, SkipErrors: o.SkipErrors}, records), release.Secret.nonce(s)), nil
}

// survives reports whether a description comes out of JSON as it went in: a
// function does not, nor does what has fields that are not exported.
func survives(d any) error {
	b, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("%T cannot be sent to workers: %w", d, err)
	}
	copied := reflect.New(reflect.TypeOf(d))
	if err := json.Unmarshal(b, copied.Interface()); err != nil {
		return fmt.Errorf("%T cannot be sent to workers: %w", d, err)
	}
	if !reflect.DeepEqual(copied.Elem().Interface(), d) {
		return fmt.Errorf("%T cannot be sent to workers: its JSON does not read back", d)
	}
	return nil
}

// RegisterDomain makes a kind of domain known to the workers. Call it from
// an init function, once for every D.
func RegisterDomain[R any, D Domain[R]]() {
	register.Combiner3[tally, R, []byte](&countFn[R, D]{})
	register.DoFn4x1[string, func(*R) bool, string, func(tally), error](&personFn[R, D]{})
	register.Combiner2[tally, []byte](&mergeFn[R, D]{})
	register.DoFn4x1[[]byte, func(*[]byte) bool, string, func(R), error](&releaseFn[R, D]{})
	register.Iter1[R]()
	register.Emitter1[R]()
}

func init() {
	beam.RegisterCoder(reflect.TypeFor[tally](), encodeTally, decodeTally)
	register.Iter1[[]byte]()
	register.Emitter1[tally]()
	RegisterDomain[[]float64, Box]()
	RegisterDomain[metric.LatLon, Sphere]()
}

// tally is the accumulator of countFn: a pointer, so that passing it on as an
// interface does not allocate for every record.
type tally struct{ *tallied }

// tallied holds counts, or their encoding while nobody needs them: the domain,
// which decoding takes, is known to countFn and not to a coder.
type tallied struct {
	counts interface{ MarshalBinary() ([]byte, error) } // *measure.Counts[R] or nil
	bytes  []byte
	bad    bool // some record has no cell
}

// Encoded, a tally is its counts after a byte that says whether it is bad.
func encodeTally(t tally) ([]byte, error) {
	b := t.bytes
	if t.counts != nil {
		var err error
		if b, err = t.counts.MarshalBinary(); err != nil {
			return nil, err
		}
	}
	bad := byte(0)
	if t.bad {
		bad = 1
	}
	return append([]byte{bad}, b...), nil
}

func decodeTally(b []byte) (tally, error) {
	if len(b) == 0 || b[0] > 1 {
		return tally{}, errors.New("privatebeam: damaged counts")
	}
	return tally{&tallied{bytes: b[1:], bad: b[0] == 1}}, nil
}

// countFn counts records in the cells of the domain. It is deterministic, and
// the encoding of the result does not depend on how the records were bundled.
//
// A record without a cell does not fail it but is noted in the tally: where one
// bundle fails, a runner may go on for a while with what the others counted.
type countFn[R any, D Domain[R]] struct {
	Domain     D
	SkipErrors bool

	domain *domain.Domain[R]
}

func (f *countFn[R, D]) Setup() (err error) {
	f.domain, err = build(f.Domain, f.Domain.Domain)
	return err
}

func (f *countFn[R, D]) CreateAccumulator() tally {
	return tally{&tallied{counts: measure.NewCounts(f.domain)}}
}

func (f *countFn[R, D]) AddInput(t tally, x R) tally {
	if err := t.counts.(*measure.Counts[R]).Add(x); err != nil && !f.SkipErrors {
		t.bad = true
	}
	return t
}

func (f *countFn[R, D]) MergeAccumulators(a, b tally) (tally, error) {
	to, err := counts(f.domain, a)
	if err != nil {
		return a, err
	}
	from, err := counts(f.domain, b)
	if err != nil {
		return a, err
	}
	return tally{&tallied{counts: to, bad: a.bad || b.bad}}, to.Merge(from)
}

func (f *countFn[R, D]) ExtractOutput(t tally) ([]byte, error) { return encodeTally(t) }

// counts returns the counts of a tally.
func counts[R any](d *domain.Domain[R], t tally) (*measure.Counts[R], error) {
	if t.counts != nil {
		return t.counts.(*measure.Counts[R]), nil
	}
	c := measure.NewCounts(d)
	return c, c.UnmarshalBinary(t.bytes)
}

// releaseFn releases the merged counts. Its output is a function of them, of the key and
// of the nonce: a bundle that is run again writes the same records again.
type releaseFn[R any, D Domain[R]] struct {
	Domain  D
	Eps     float64
	Options SyntheticOptions
	Secret  secret

	streams     keyed
	synthesizer *measure.Synthesizer[R]
}

func newRelease[R any, D Domain[R]](op string, d D, eps float64, o *SyntheticOptions) (*releaseFn[R, D], error) {
	if o.SkipErrors && o.Release.Relation != measure.AddRemoveOne {
		return nil, fmt.Errorf("%s: %w", op, measure.ErrSkipped)
	}
	if o.Records < 0 {
		return nil, fmt.Errorf("%s: %d records: want a number > 0, or 0 for as many as there are", op, o.Records)
	}
	secret, err := newSecret(op, o.Key, o.KeyFile)
	if err != nil {
		return nil, err
	}
	if err := survives(d); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	f := &releaseFn[R, D]{Domain: d, Eps: eps, Options: *o, Secret: secret}
	f.Options.Key = nil               // it is in Secret
	if err := f.build(); err != nil { // here and not on a worker
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return f, nil
}

// of releases the merged counts.
func (f *releaseFn[R, D]) of(s beam.Scope, counts beam.PCollection, nonce beam.SideInput) beam.PCollection {
	// An impulse with the counts beside it, because no records are no counts, and
	// have a release as all others.
	out := beam.ParDo(s, f, beam.Impulse(s), beam.SideInput{Input: counts}, nonce)
	return beam.Reshuffle(s, out) // so that what follows is not tied to one worker
}

func (f *releaseFn[R, D]) Setup(ctx context.Context) (err error) {
	if f.streams, err = f.Secret.load(ctx); err != nil {
		return err
	}
	return f.build()
}

func (f *releaseFn[R, D]) build() error {
	d, err := build(f.Domain, f.Domain.Domain)
	if err != nil {
		return err
	}
	f.synthesizer, err = measure.NewSynthesizer(d, f.Eps, &f.Options.Release)
	return err
}

func (f *releaseFn[R, D]) ProcessElement(_ []byte, in func(*[]byte) bool, nonce string, emit func(R)) error {
	c := measure.NewCounts(f.synthesizer.Domain())
	var encoded []byte
	if in(&encoded) {
		t, err := decodeTally(encoded)
		if err != nil {
			return err
		}
		if t.bad {
			return errCell
		}
		if c, err = counts(f.synthesizer.Domain(), t); err != nil {
			return err
		}
	}
	records, err := synthetic(f.synthesizer, c, f.streams(nonce), &f.Options)
	if err != nil {
		return err
	}
	for _, r := range records {
		emit(r)
	}
	return nil
}

// errCell does not say which, or why: errors are logged where the data are not.
var errCell = errors.New("privatebeam: there are records without a cell: repair them before, or see SkipErrors")

// Synthetic makes records of counts on this machine, for rehearsals and comparisons:
// under [SeededKey] those that [SyntheticData] and [SyntheticPersons] make of the
// same counts and options, under any other key those of another release.
func Synthetic[R any](s *measure.Synthesizer[R], c *measure.Counts[R], key Key, o *SyntheticOptions) ([]R, error) {
	secret, err := newSecret("privatebeam: Synthetic", key, "")
	if err != nil {
		return nil, err
	}
	nonce := (&nonceFn{Seeded: secret.Key.seeded()}).ProcessElement(nil)
	return synthetic(s, c, secret.Key.streams(nonce), o)
}

func synthetic[R any](s *measure.Synthesizer[R], c *measure.Counts[R], from streams, o *SyntheticOptions) ([]R, error) {
	r, err := stream(s, c, from, o)
	if err != nil {
		return nil, err
	}
	published, err := s.Release(r, c)
	if err != nil {
		return nil, err
	}
	return published.Records(r, o.Records, &o.Output)
}

// stream is the generator of one mechanism for these counts.
func stream[R any](s *measure.Synthesizer[R], c *measure.Counts[R], from streams, o *SyntheticOptions) (*rand.Rand, error) {
	encoded, err := c.MarshalBinary()
	if err != nil {
		return nil, err
	}
	how, err := json.Marshal(struct {
		Release measure.SynthesizerOptions
		Records int
		Output  measure.RecordOptions
	}{o.Release, o.Records, o.Output})
	if err != nil {
		return nil, err
	}
	level := binary.LittleEndian.AppendUint64(nil, math.Float64bits(s.Guarantee().Alpha()))
	return from("SyntheticData", level, how, []byte(s.Domain().String()), encoded), nil
}
