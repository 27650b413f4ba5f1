package privatebeam

import (
	"context"
	"crypto/hmac"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local" // for key files
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

// A Key is the secret that all noise of a transform is derived from, drawn once where the
// pipeline is built, so that whatever is run again draws the same noise again: see the
// package's doc on retries. It may serve any number of transforms and runs, which have
// nonces of their own. It prints as a placeholder.
type Key []byte

const keySize = 32

// NewKey draws a key of 256 bits from crypto/rand. It is what every transform
// does that is given none.
func NewKey() Key {
	k := make(Key, keySize)
	crand.Read(k) // never fails: crypto/rand ends the program instead
	return k
}

// SeededKey makes a repeatable key, for tests and rehearsals: transforms under it
// have no nonce, and two that are the same, or two runs, draw the same. It is not for releases of
// private data: whoever knows the seed knows the noise.
func SeededKey(seed uint64) Key {
	return binary.LittleEndian.AppendUint64([]byte(seedPrefix), seed)
}

const seedPrefix = "privatebeam: seed "

// seeded reports whether k is that of a seed: no key of [NewKey] is as long.
func (k Key) seeded() bool {
	return len(k) == len(seedPrefix)+8 && strings.HasPrefix(string(k), seedPrefix)
}

// Format implements fmt.Formatter and keeps the key out of logs, whatever the
// verb.
func (k Key) Format(s fmt.State, _ rune) {
	if k.seeded() {
		fmt.Fprint(s, "key of a seed")
		return
	}
	fmt.Fprintf(s, "secret key of %d bits", 8*len(k))
}

// NewKeyFile draws a key as [NewKey] does and writes it to a new file, on the local disk,
// readable by its owner alone, or on any file system that Beam knows, whose permissions
// decide who reads it. A file that is there is an error. It is for KeyFile in the options
// of a transform; delete it after the run.
func NewKeyFile(ctx context.Context, path string) (err error) {
	const op = "privatebeam: NewKeyFile"
	var w io.WriteCloser
	if strings.Contains(path, "://") {
		fs, err := filesystem.New(ctx, path)
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
		defer fs.Close()
		there, err := fs.List(ctx, path)
		if err == nil && len(there) > 0 {
			err = os.ErrExist
		}
		if err != nil {
			return fmt.Errorf("%s: %s: %w", op, path, err)
		}
		w, err = fs.OpenWrite(ctx, path)
		if err != nil {
			return fmt.Errorf("%s: %w", op, err)
		}
	} else if w, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	_, err = w.Write(NewKey())
	if err := errors.Join(err, w.Close()); err != nil {
		return fmt.Errorf("%s: %w", op, err)
	}
	return nil
}

// secret is how a DoFn comes by its generators, at a retry too.
type secret struct {
	Key  Key
	File string
}

// newSecret checks the options, and draws a key if none is given.
func newSecret(op string, k Key, file string) (secret, error) {
	switch {
	case len(k) > 0 && file != "":
		return secret{}, fmt.Errorf("%s: a Key and a KeyFile: want one of them", op)
	case len(k) == 0 && file == "":
		k = NewKey()
	case file == "" && len(k) != keySize && !k.seeded():
		return secret{}, fmt.Errorf("%s: a key of %d bytes: want %d, from NewKey", op, len(k), keySize)
	}
	return secret{Key: k, File: file}, nil
}

// nonce is a PCollection<string> of one element, which the run draws for this transform,
// to be a side input of all that draws from the key: a DoFn that knows no bundle cannot
// tell a run from another, nor a retry from a run. The Reshuffle keeps what was drawn, so
// that every attempt at what follows reads the same.
func (s secret) nonce(scope beam.Scope) beam.SideInput {
	drawn := beam.ParDo(scope, &nonceFn{Seeded: s.Key.seeded()}, beam.Impulse(scope))
	return beam.SideInput{Input: beam.Reshuffle(scope, drawn)}
}

func init() { register.DoFn1x1[[]byte, string](&nonceFn{}) }

// nonceFn draws a nonce. Under a key of a seed there is none.
type nonceFn struct{ Seeded bool }

func (f *nonceFn) ProcessElement([]byte) string {
	if f.Seeded {
		return ""
	}
	return hex.EncodeToString(NewKey())
}

// keyed returns the generators of a transform in a run, for its nonce.
type keyed func(nonce string) streams

// load returns the generators, on a worker.
func (s secret) load(ctx context.Context) (keyed, error) {
	if s.File == "" {
		return s.Key.streams, nil
	}
	fs, err := filesystem.New(ctx, s.File)
	if err != nil {
		return nil, err
	}
	defer fs.Close()
	k, err := filesystem.Read(ctx, fs, s.File)
	if err == nil && len(k) != keySize {
		err = fmt.Errorf("privatebeam: %s holds %d bytes: want a key of %d, from NewKeyFile", s.File, len(k), keySize)
	}
	if err != nil {
		return nil, err
	}
	return Key(k).streams, nil
}

// streams makes the generators of one transform, for a use and what identifies it.
// It is a function because a field of a DoFn may be printed, and a function does
// not show the key.
type streams func(use string, parts ...[]byte) *rand.Rand

// streams returns ChaCha8 under the keys HMAC-SHA256(k; nonce, use, parts): for
// everyone without k, streams of different nonces, uses or parts are independent of
// each other.
func (k Key) streams(nonce string) streams {
	return func(use string, parts ...[]byte) *rand.Rand {
		mac := hmac.New(sha256.New, k)
		frame := func(b []byte) { // lengths, so that no two lists of parts read alike
			mac.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(b))))
			mac.Write(b)
		}
		frame([]byte("github.com/metricdp/metricdp/examples/beam/privatebeam")) // and nobody else's
		frame([]byte(nonce))
		frame([]byte(use))
		for _, p := range parts {
			frame(p)
		}
		return rand.New(rand.NewChaCha8([keySize]byte(mac.Sum(nil))))
	}
}
