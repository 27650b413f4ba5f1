package privatebeam

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync/atomic"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
	"github.com/metricdp/metricdp/mechanism"
	"github.com/metricdp/metricdp/mechanism/emd"
	"github.com/metricdp/metricdp/mechanism/emd/frequency"
)

// Multiset is what [ItemWise] publishes: how often each output came up.
type Multiset struct {
	Counts []int64
	Users  int64
}

// ItemWise releases the items of a PCollection<User> through the channel of w and returns a
// PCollection<Multiset> of one element, which alone may leave the pipeline: how often each
// output came up. The promise is w.Guarantee(), made once.
//
// Every user must hold the Items of w's model and, but for the Local trust, the number of
// users must be its Users; otherwise the pipeline fails before it publishes anything. That
// every ID occurs once is taken on trust: see [User]. The channel is part of the pipeline,
// up to some 12 bytes a probability: mind the limits of the runner, 10 MB for Dataflow.
func ItemWise(s beam.Scope, w *frequency.ItemWise, users beam.PCollection, o *Options) (beam.PCollection, error) {
	const op = "privatebeam: ItemWise"
	fail := func(err error) (beam.PCollection, error) { return beam.PCollection{}, err }
	if err := batch(op, users); err != nil {
		return fail(err)
	}
	draw, err := newDraw(op, w, o)
	if err != nil {
		return fail(err)
	}
	whole := &wholeFn{}
	if model := w.Guarantee().Model(); model.Trust != emd.Local {
		whole.Users = int64(model.Users)
	}
	s = s.Scope("privatebeam.ItemWise")
	sum := beam.Combine(s, &sumFn{Outputs: w.Channel().Outputs()}, beam.ParDo(s, draw, users, draw.Secret.nonce(s)))
	// The impulse, so that no users are an error too.
	out := beam.ParDo(s, whole, beam.Impulse(s), beam.SideInput{Input: sum})
	return beam.Reshuffle(s, out), nil
}

// ItemWiseUse is the use that [ItemWise] makes of its key, for [User.Stream]. It
// depends on the channel, the model and the promise: the noise of different ones is
// independent.
func ItemWiseUse(w *frequency.ItemWise) (string, error) {
	h := sha256.New()
	g := w.Guarantee()
	err := w.Channel().WriteJSON(h)
	err = errors.Join(err, json.NewEncoder(h).Encode(g.Model()))
	fmt.Fprintf(h, "%x %x", g.Alpha(), g.Delta())
	return fmt.Sprintf("ItemWise %x", h.Sum(nil)), err
}

func init() {
	register.DoFn2x1[User, string, draws](&drawFn{})
	register.Combiner2[sums, draws](&sumFn{})
	register.DoFn3x1[[]byte, func(*sums) bool, func(Multiset), error](&wholeFn{})
	register.Emitter1[Multiset]()
	register.Iter1[sums]()
}

// draws are the outputs of one user's items, without the user. They only live
// until the next step adds them up.
type draws struct {
	Y   []int
	Bad string // what is wrong with the user, if anything
}

// drawFn draws an output for every item of a user.
type drawFn struct {
	Channel []byte // JSON, compressed
	Use     string // of the key
	Inputs  int
	Items   int
	Secret  secret

	streams  keyed
	samplers *samplers
}

func newDraw(op string, w *frequency.ItemWise, o *Options) (*drawFn, error) {
	secret, err := o.secret(op)
	if err != nil {
		return nil, err
	}
	channel, err := packChannel(w.Channel())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	use, err := ItemWiseUse(w)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return &drawFn{
		Channel: channel, Use: use, Inputs: w.Channel().Len(), Items: w.Guarantee().Model().Items, Secret: secret,
	}, nil
}

func (f *drawFn) Setup(ctx context.Context) (err error) {
	if f.streams, err = f.Secret.load(ctx); err != nil {
		return err
	}
	f.samplers, err = build(f.Channel, func() (*samplers, error) { return newSamplers(context.WithoutCancel(ctx), f.Channel, f.Inputs) })
	return err
}

// ProcessElement notes what is wrong with a user, without a word on who it is, and
// does not fail: errors are logged where the data are not, and where one bundle
// fails, a runner may go on for a while with the others.
func (f *drawFn) ProcessElement(u User, nonce string) draws {
	if len(u.Items) != f.Items {
		return draws{Bad: fmt.Sprintf("a user without the %d items of the model: Reduce makes them so", f.Items)}
	}
	r := u.stream(f.streams(nonce), f.Use)
	y := make([]int, len(u.Items))
	for i, x := range ascending(u.Items) {
		s, err := f.samplers.at(x)
		if err != nil {
			return draws{Bad: "an item that is no input of the channel"} // err says which
		}
		y[i] = s.Draw(r)
	}
	return draws{Y: y}
}

// samplers holds a channel and prepares its inputs when they are needed.
type samplers struct {
	channel *mechanism.Channel
	of      []atomic.Pointer[mechanism.Sampler]
}

// packChannel encodes a channel, bit by bit.
func packChannel(c *mechanism.Channel) ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if err := c.WriteJSON(z); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}

// newSamplers decodes a channel, to the last bit. Reading audits it, under the
// largest distances there are, which any channel keeps: w was audited under its
// metric where the pipeline was built, and a worker promises nothing.
func newSamplers(ctx context.Context, encoded []byte, inputs int) (*samplers, error) {
	z, err := gzip.NewReader(bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	c, err := mechanism.ReadChannel(ctx, z, far(inputs), nil)
	if err != nil {
		return nil, err
	}
	return &samplers{channel: c, of: make([]atomic.Pointer[mechanism.Sampler], c.Len())}, nil
}

func (s *samplers) at(x int) (*mechanism.Sampler, error) {
	if x < 0 || x >= len(s.of) {
		return s.channel.Sampler(x) // its error
	}
	if t := s.of[x].Load(); t != nil {
		return t, nil
	}
	t, err := s.channel.Sampler(x)
	if err == nil {
		s.of[x].Store(t) // another worker may have made the same meanwhile
	}
	return t, err
}

// far is that many points at the largest finite distance from each other.
type far int

func (n far) Len() int { return int(n) }

func (n far) Distance(i, j int) float64 {
	if i == j {
		return 0
	}
	return math.MaxFloat64
}

// sums are counts of some of the users.
type sums struct {
	Counts []int64
	Users  int64
	Bad    string // what is wrong with one of them, if anything
}

// sumFn adds draws up.
type sumFn struct{ Outputs int }

func (f *sumFn) CreateAccumulator() sums { return sums{Counts: make([]int64, f.Outputs)} }

func (f *sumFn) AddInput(m sums, d draws) sums {
	for _, y := range d.Y {
		m.Counts[y]++
	}
	m.Users++
	m.Bad = max(m.Bad, d.Bad)
	return m
}

func (f *sumFn) MergeAccumulators(a, b sums) sums {
	for y, n := range b.Counts {
		a.Counts[y] += n
	}
	a.Users += b.Users
	a.Bad = max(a.Bad, b.Bad)
	return a
}

// wholeFn lets counts pass that the promise covers.
type wholeFn struct {
	Users int64 // 0 for any number
}

func (f *wholeFn) ProcessElement(_ []byte, in func(*sums) bool, emit func(Multiset)) error {
	var m sums
	switch in(&m); {
	case m.Bad != "":
		return fmt.Errorf("privatebeam: ItemWise: %s", m.Bad)
	case m.Users == 0:
		return errors.New("privatebeam: ItemWise: no users")
	case f.Users != 0 && m.Users != f.Users:
		return fmt.Errorf("privatebeam: ItemWise: %d users, in a model of %d, which the promise is for", m.Users, f.Users)
	}
	emit(Multiset{Counts: m.Counts, Users: m.Users})
	return nil
}
