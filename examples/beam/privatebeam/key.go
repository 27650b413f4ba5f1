package privatebeam

import (
	"context"
	"crypto/hmac"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local" // for key files
)

// A Key is the secret that all noise of one transform is derived from. It is
// drawn once, where the pipeline is built, and reaches the workers inside the
// pipeline or in a file, so that whatever is run again draws the same noise again.
// See the package's doc on retries for what that gives and whom it must be kept
// from.
//
// A key serves one run, and any number of transforms in it: what they do is part of
// what their noise is derived from, and two that do the same with the same data
// make one release. It prints as a placeholder, so that it is not logged by mistake.
type Key []byte

const keySize = 32

// NewKey draws a key of 256 bits from crypto/rand. It is what every transform
// does that is given none.
func NewKey() Key {
	k := make(Key, keySize)
	crand.Read(k) // never fails: crypto/rand ends the program instead
	return k
}

// SeededKey makes a repeatable key, for tests and rehearsals. It is not for
// releases of private data: whoever knows the seed knows the noise.
func SeededKey(seed uint64) Key {
	k := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("privatebeam: seed "), seed))
	return k[:]
}

// Stream returns the generator that the named use of k draws from, ChaCha8 under
// the key HMAC-SHA256(k, use, parts): for everyone without k, streams of
// different names or parts are independent of each other.
func (k Key) Stream(use string, parts ...[]byte) *rand.Rand {
	mac := hmac.New(sha256.New, k)
	frame := func(b []byte) { // lengths, so that no two lists of parts read alike
		mac.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(b))))
		mac.Write(b)
	}
	frame([]byte(use))
	for _, p := range parts {
		frame(p)
	}
	return rand.New(rand.NewChaCha8([keySize]byte(mac.Sum(nil))))
}

// Format implements fmt.Formatter and keeps the key out of logs, whatever the
// verb.
func (k Key) Format(s fmt.State, _ rune) { fmt.Fprintf(s, "secret key of %d bits", 8*len(k)) }

// NewKeyFile draws a key as [NewKey] does and writes it to a new file, on the local
// disk, readable by its owner alone, or on any file system that Beam knows, whose
// permissions decide who reads it. A file that is there is an error: a key serves
// one run.
//
// It is for KeyFile in the options of a transform, whose pipeline then holds the
// path and not the key. Who deletes the file after the run makes sure that the
// noise can never be taken off.
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

// secret is how a DoFn comes by its key.
type secret struct {
	Key  Key
	File string
}

// newSecret checks what the options say, and draws a key where they say nothing.
func newSecret(op string, k Key, file string) (secret, error) {
	switch {
	case len(k) > 0 && file != "":
		return secret{}, fmt.Errorf("%s: a Key and a KeyFile: want one of them", op)
	case len(k) == 0 && file == "":
		k = NewKey()
	case file == "" && len(k) != keySize:
		return secret{}, fmt.Errorf("%s: a key of %d bytes: want %d, from NewKey", op, len(k), keySize)
	}
	return secret{k, file}, nil
}

// load returns the key, on a worker.
func (s secret) load(ctx context.Context) (Key, error) {
	if s.File == "" {
		return s.Key, nil
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
	return k, err
}
