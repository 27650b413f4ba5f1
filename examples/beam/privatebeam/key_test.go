package privatebeam

import (
	"encoding/binary"
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
)

var everyElement = beam.Trigger(trigger.Repeat(trigger.AfterCount(1)))

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// copied sends v to a worker and back.
func copied[T any](t *testing.T, v *T) *T {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	w := new(T)
	if err := json.Unmarshal(b, w); err != nil {
		t.Fatal(err)
	}
	return w
}

// Streams differ with everything that names them. (Two that are independent
// agree in a word with probability 2^-64.)
func TestKey_StreamsDiffer(t *testing.T) {
	a, b := SeededKey(1), SeededKey(2)
	x, y := []byte("x"), []byte("xy")
	u, v := &User{ID: "u", Items: []int{1, 2}}, &User{ID: "v", Items: []int{1, 2}}
	w, z := &User{ID: "u", Items: []int{1, 3}}, &User{ID: "u", Items: []int{1}}
	words := []uint64{
		a.Stream("A").Uint64(), a.Stream("B").Uint64(), b.Stream("A").Uint64(),
		a.Stream("A", nil).Uint64(), a.Stream("A", x).Uint64(), a.Stream("A", y).Uint64(),
		a.Stream("A", x, []byte("y")).Uint64(), a.Stream("Ax").Uint64(),
		u.Stream(a, "A").Uint64(), v.Stream(a, "A").Uint64(), w.Stream(a, "A").Uint64(), z.Stream(a, "A").Uint64(),
		u.Stream(a, "B").Uint64(), u.Stream(b, "A").Uint64(),
		NewKey().Stream("A").Uint64(), NewKey().Stream("A").Uint64(),
	}
	if again := copied(t, &a).Stream("A").Uint64(); again != words[0] {
		t.Error("one key, two streams")
	}
	slices.Sort(words)
	if n := len(slices.Compact(words)); n != 16 {
		t.Errorf("%d different streams, want 16", n)
	}
}

// What has no key gets a new one, all of it random: no word comes up twice, or is
// 0, but with probability 2^-57.
func TestKey_IsDrawnAnew(t *testing.T) {
	words := []uint64{0}
	for range 2 {
		s, err := newSecret("test", nil, "")
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "key")
		if err := NewKeyFile(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range [][]byte{s.Key, file} {
			for w := range slices.Chunk(k, 8) {
				words = append(words, binary.LittleEndian.Uint64(w))
			}
		}
	}
	slices.Sort(words)
	if n := len(slices.Compact(words)); n != 17 {
		t.Errorf("%d different words in four keys of four, and 0", n)
	}
}

// Golden words: what a key gives must not change between versions, or a job that
// is updated while it runs would release twice.
func TestKey_Golden(t *testing.T) {
	got := fmt.Sprintf("%x", SeededKey(1).Stream("SyntheticData", []byte("counts")).Uint64())
	if want := "58467c77780aa36f"; got != want {
		t.Errorf("%s, was %s", got, want)
	}
}

func TestKey_DoesNotPrint(t *testing.T) {
	k := SeededKey(3)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q", "%d"} {
		for _, v := range []any{k, Options{Key: k}, &reduceFn{Secret: secret{Key: k}}, SyntheticOptions{Key: k}} {
			if s := fmt.Sprintf(verb, v); !strings.Contains(s, "secret key of 256 bits") {
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
	if err := NewKeyFile(ctx, path); err != nil {
		t.Fatal(err)
	}
	if err := NewKeyFile(ctx, path); !errors.Is(err, os.ErrExist) {
		t.Errorf("a second key in one file: %v", err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() != keySize || info.Mode().Perm() != 0o600 {
		t.Errorf("key file: %v, %v", info, err)
	}
	s, err := newSecret("test", nil, path)
	if err != nil {
		t.Fatal(err)
	}
	k, err := copied(t, &s).load(ctx)
	if err != nil || len(k) != keySize {
		t.Fatalf("key of %d bytes, %v", len(k), err)
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
	if err := os.WriteFile(path, []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
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
	if k, err := (secret{File: "memfs://keys/key"}).load(ctx); err != nil || len(k) != keySize {
		t.Errorf("key of %d bytes, %v", len(k), err)
	}
}
