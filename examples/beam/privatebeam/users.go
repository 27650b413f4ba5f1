package privatebeam

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

// User is what one user holds: items, indices of the points of a public space. A
// collection holds each ID once, as that of [Users] does; it is not checked. A user
// with two elements would be counted as two users and, where these hold the same
// items, with the same randomness both times: no promise covers that.
type User struct {
	ID    string
	Items []int
}

// Stream returns the generator that a transform under [SeededKey] draws from for
// this user, to compare with: use is "Reduce n" for [Reduce] to n samples, and
// [ItemWiseUse] for [ItemWise].
func (u User) Stream(seed uint64, use string) *rand.Rand {
	return u.stream(SeededKey(seed).streams(""), use)
}

// stream depends on the items too, though not on their order: where a retry reads
// this user differently, it does not meet the noise of what was read before.
func (u User) stream(s streams, use string) *rand.Rand {
	items := make([]byte, 0, 2*len(u.Items))
	for _, x := range ascending(u.Items) {
		items = binary.AppendVarint(items, int64(x))
	}
	return s(use, []byte(u.ID), items)
}

// ascending returns items in order and leaves those of the runner alone.
func ascending(items []int) []int {
	if slices.IsSorted(items) {
		return items
	}
	return slices.Sorted(slices.Values(items))
}

// Options are the settings of [Reduce] and [ItemWise]. Nil and the zero value mean
// the defaults: a new key that is part of the pipeline. Whatever the key, every
// transform draws a nonce of its own in every run.
type Options struct {
	// Key, where not nil, is what the randomness is derived from. Leave it nil for
	// all that is published.
	Key Key
	// KeyFile, where not empty, is where the workers read the key, so that it is no
	// part of the pipeline: the path of a file that [NewKeyFile] wrote.
	KeyFile string
}

func (o *Options) secret(op string) (secret, error) {
	if o == nil {
		o = &Options{}
	}
	return newSecret(op, o.Key, o.KeyFile)
}

// Users groups a PCollection<KV<string,int>> of user and item into a
// PCollection<User>. The items of a user must fit a worker's memory.
func Users(s beam.Scope, items beam.PCollection) beam.PCollection {
	s = s.Scope("privatebeam.Users")
	return beam.ParDo(s, &groupFn{}, beam.GroupByKey(s, items))
}

// Reduce draws samples items of every user of a PCollection<User> with
// replacement, whatever their number, and returns users of that many items each:
// the sampling of [emd.NewReduced], whose promise is that of what follows.
//
// Randomness is derived as in [ItemWise]: a retry draws the same, and no other
// transform or run does.
func Reduce(s beam.Scope, samples int, users beam.PCollection, o *Options) (beam.PCollection, error) {
	const op = "privatebeam: Reduce"
	if samples < 1 {
		return beam.PCollection{}, fmt.Errorf("%s: %d samples: want a number >= 1", op, samples)
	}
	if err := batch(op, users); err != nil {
		return beam.PCollection{}, err
	}
	f, err := newReduce(op, samples, o)
	if err != nil {
		return beam.PCollection{}, err
	}
	s = s.Scope("privatebeam.Reduce")
	return beam.ParDo(s, f, users, f.Secret.nonce(s)), nil
}

func newReduce(op string, samples int, o *Options) (*reduceFn, error) {
	secret, err := o.secret(op)
	return &reduceFn{Samples: samples, Secret: secret}, err
}

func init() {
	register.DoFn3x0[string, func(*int) bool, func(User)](&groupFn{})
	register.DoFn2x1[User, string, User](&reduceFn{})
	register.Emitter1[User]()
	register.Iter1[int]()
}

type groupFn struct{}

func (*groupFn) ProcessElement(id string, items func(*int) bool, emit func(User)) {
	u := User{ID: id}
	for x := 0; items(&x); {
		u.Items = append(u.Items, x)
	}
	slices.Sort(u.Items) // runners deliver them in any order, another at a retry
	emit(u)
}

type reduceFn struct {
	Samples int
	Secret  secret

	streams keyed
}

func (f *reduceFn) Setup(ctx context.Context) (err error) {
	f.streams, err = f.Secret.load(ctx)
	return err
}

func (f *reduceFn) ProcessElement(u User, nonce string) User {
	if len(u.Items) == 0 {
		return u // not from Users, and for ItemWise to refuse
	}
	items := ascending(u.Items)
	r := u.stream(f.streams(nonce), fmt.Sprintf("Reduce %d", f.Samples))
	drawn := make([]int, f.Samples)
	for i := range drawn {
		drawn[i] = items[r.IntN(len(items))]
	}
	slices.Sort(drawn)
	return User{ID: u.ID, Items: drawn}
}
