package privatebeam

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window/trigger"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"
	"github.com/metricdp/metricdp/internal/testkit"
)

var everyElement = beam.Trigger(trigger.Repeat(trigger.AfterCount(1)))

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// copied sends v to a worker and back.
func copied[T any](t *testing.T, v *T) *T {
	t.Helper()
	b := testkit.Must(json.Marshal(v))
	w := new(T)
	testkit.Check(t, json.Unmarshal(b, w))
	return w
}

// Streams differ with everything that names them. (Two that are independent
// agree in a word with probability 2^-64.)
func TestStreams_Differ(t *testing.T) {
	n, m := NewKey(), NewKey()
	at := func(k, nonce Key) streams { return k.streams(string(nonce)) }
	a, b, c := at(SeededKey(1), nil), at(SeededKey(2), nil), at(SeededKey(1), n)
	x, y := []byte("x"), []byte("xy")
	u, v := &User{ID: "u", Items: []int{1, 2}}, &User{ID: "v", Items: []int{1, 2}}
	w, z := &User{ID: "u", Items: []int{1, 3}}, &User{ID: "u", Items: []int{1}}
	words := []uint64{
		a("A").Uint64(), a("B").Uint64(), b("A").Uint64(), c("A").Uint64(),
		at(SeededKey(1), m)("A").Uint64(), at(m, n)("A").Uint64(), at(n, m)("A").Uint64(),
		at(SeededKey(1), n[1:])("A").Uint64(), at(SeededKey(1), n[:31])(string(n[31:]) + "A").Uint64(),
		a("A", nil).Uint64(), a("A", x).Uint64(), a("A", y).Uint64(),
		a("A", x, []byte("y")).Uint64(), a("Ax").Uint64(),
		u.stream(a, "A").Uint64(), v.stream(a, "A").Uint64(), w.stream(a, "A").Uint64(), z.stream(a, "A").Uint64(),
		u.stream(a, "B").Uint64(), u.stream(b, "A").Uint64(), u.stream(c, "A").Uint64(),
	}
	if again := u.Stream(1, "A").Uint64(); again != u.stream(a, "A").Uint64() {
		t.Error("one seed, two streams")
	}
	want := len(words)
	slices.Sort(words)
	if got := len(slices.Compact(words)); got != want {
		t.Errorf("%d different streams, want %d", got, want)
	}
}

// Every run of a transform gets a nonce, and where it is given no key a new one, all of it
// random: no word comes up twice, or is 0, but with probability 2^-55. A key of a
// seed alone has none, and travels as it is.
func TestSecret_IsDrawnAnew(t *testing.T) {
	words := []uint64{0}
	for range 2 {
		s := testkit.Must(newSecret("test", nil, ""))
		path := filepath.Join(t.TempDir(), "key")
		testkit.Check(t, NewKeyFile(t.Context(), path))
		file := testkit.Must(os.ReadFile(path))
		one := testkit.Must(newSecret("test", nil, path))
		var nonces [3][]byte
		for i := range nonces {
			nonces[i] = testkit.Must(hex.DecodeString((&nonceFn{}).ProcessElement(nil)))
		}
		for _, k := range [][]byte{s.Key, file, nonces[0], nonces[1], nonces[2]} {
			if len(k) != keySize {
				t.Fatalf("%d bytes", len(k))
			}
			for w := range slices.Chunk(k, 8) {
				words = append(words, binary.LittleEndian.Uint64(w))
			}
		}
		loaded, err := copied(t, &one).load(t.Context())
		if err != nil || loaded("n")("A").Uint64() != Key(file).streams("n")("A").Uint64() {
			t.Errorf("a worker has another key, %v", err)
		}
	}
	slices.Sort(words)
	if n := len(slices.Compact(words)); n != 41 {
		t.Errorf("%d different words in ten keys of four, and 0", n)
	}
	seeded, err := newSecret("test", SeededKey(4), "")
	if nonce := (&nonceFn{Seeded: seeded.Key.seeded()}).ProcessElement(nil); err != nil || nonce != "" {
		t.Errorf("a seed has the nonce %s, %v", nonce, err)
	}
	if s, err := copied(t, &seeded).load(t.Context()); err != nil || s("")("A").Uint64() != SeededKey(4).streams("")("A").Uint64() {
		t.Errorf("a worker has another stream, %v", err)
	}
}

// Golden words: what a key gives must not change between versions, or a job that
// is updated while it runs would release twice.
func TestStreams_Golden(t *testing.T) {
	s := SeededKey(1).streams("nonce")
	got := fmt.Sprintf("%x", s("SyntheticData", []byte("counts")).Uint64())
	if want := "8aaf42c78fbb5958"; got != want {
		t.Errorf("%s, was %s", got, want)
	}
}

func TestKey_DoesNotPrint(t *testing.T) {
	k := NewKey()
	bytes := fmt.Sprint([]byte(k))
	s := secret{Key: k}
	loaded := testkit.Must(s.load(t.Context()))
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q", "%d"} {
		for _, v := range []any{k, Options{Key: k}, &reduceFn{Secret: s, streams: loaded}, SyntheticOptions{Key: k}} {
			if s := fmt.Sprintf(verb, v); !strings.Contains(s, "secret key of 256 bits") || strings.Contains(s, bytes[1:20]) {
				t.Errorf("%s of a %T prints %s", verb, v, s)
			}
		}
	}
}

// A key file is written once, for its owner, and read by workers, whose pipeline
// does not hold the key.
func TestNewKeyFile(t *testing.T) {
	ctx := t.Context()
	path := filepath.Join(t.TempDir(), "key")
	testkit.Check(t, NewKeyFile(ctx, path))
	if err := NewKeyFile(ctx, path); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second key in one file: %v", err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() != keySize || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v, %v", info, err)
	}
	s := testkit.Must(newSecret("test", nil, path))
	if _, err := copied(t, &s).load(ctx); err != nil {
		t.Fatal(err)
	}
	if len(s.Key) > 0 {
		t.Error("the pipeline holds a key beside that of the file")
	}
	if _, err := newSecret("test", NewKey(), path); err == nil {
		t.Error("a key and a file: no error")
	}
	if _, err := (secret{File: path + "x"}).load(ctx); err == nil {
		t.Error("no file: no error")
	}
	testkit.Check(t, os.WriteFile(path, []byte("short"), 0o600))
	if _, err := s.load(ctx); err == nil {
		t.Error("a short file: no error")
	}
	for _, path := range []string{"memfs://keys/key", "nowhere://key"} {
		err := NewKeyFile(ctx, path)
		if known := strings.HasPrefix(path, "memfs"); known != (err == nil) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if err := NewKeyFile(ctx, "memfs://keys/key"); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second key in one file: %v", err)
	}
	if _, err := (secret{File: "memfs://keys/key"}).load(ctx); err != nil {
		t.Error(err)
	}
}
