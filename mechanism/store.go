package mechanism

import (
	"bytes"
	"crypto/hmac"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Store keeps the records of [Sticky], [Budget] and Stream of package measure beyond the life of a
// process: a folder ([OpenFileStore]), a table of a database. Keys are of lower-case ASCII letters, digits
// and '-', at most 80 of them; values are ASCII or JSON text, up to megabytes for a stream. A store needs
// the care that the secrets need.
//
// Keys of Sticky and Budget are hashes of names and inputs (HMAC-SHA256) under a salt of 32 random bytes,
// which the store holds under the key "salt": who reads the whole store can try guesses. Without its salt
// a store is a new one: what was drawn and spent is forgotten. Records of the version before this one are
// read, and it refuses those of this one: end its processes first. Records of other versions are an error.
//
// A Store arbitrates: whoever uses it, goroutines, processes, machines, a record changes only where
// [Store.Swap] finds the value that its caller saw. So any number of Stickies and Budgets of one name may
// be at work at once.
type Store interface {
	// Load returns the last value that was put under the key, and false where there
	// is none. What it cannot tell, such as a file that cannot be read, is an error.
	Load(key string) (value []byte, ok bool, err error)
	// Swap puts a new value under the key where the value is old, or where old is nil and there
	// is none, and reports whether it did. Of several with one old value one does. When it
	// returns true, and when Load returned it, the value must survive whatever is to be survived,
	// a crash for one; after an error, Load must return the value before or the new one, whole.
	// A Swap that is done and then reports false, as one sent twice does, costs at most another
	// price from a budget. Whether it fails must not depend on what is drawn. Values are never empty.
	Swap(key string, old, new []byte) (swapped bool, err error)
}

// ErrRecord reports a record of a [Store] that is not as it was saved: damaged, of
// another key, or of something else.
var ErrRecord = errors.New("a damaged record in the store")

// memory is the Store of one Sticky or Budget.
type memory struct {
	mu      sync.Mutex
	records map[string][]byte
}

func newMemory() *memory { return &memory{records: map[string][]byte{}} }

func (m *memory) Load(key string) ([]byte, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	value, ok := m.records[key]
	return value, ok, nil
}

func (m *memory) Swap(key string, old, new []byte) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if value, ok := m.records[key]; ok != (old != nil) || !bytes.Equal(value, old) {
		return false, nil
	}
	m.records[key] = new
	return true, nil
}

// record is what a key holds.
type record struct {
	store Store
	key   string
	value []byte // as stored; nil where there is none
	body  []byte // without its checksum
}

// load reads the record of a key. What is not whole is [ErrRecord].
func load(op string, s Store, key string) (r record, err error) {
	r = record{store: s, key: key}
	value, ok, err := s.Load(key)
	if err != nil {
		return r, fmt.Errorf("%s: Store.Load: %w", op, err)
	}
	if !ok {
		return r, nil
	}
	sum, body, _ := bytes.Cut(value, []byte(" "))
	if !bytes.Equal(sum, checksum(key, body)) {
		return r, fmt.Errorf("%s: %w: %s", op, ErrRecord, key)
	}
	r.value, r.body = value, body
	return r, nil
}

// swap puts another body in place of what was read, with a checksum of it and the key, and
// reports whether it did. Bodies must be unlike all others: one that is found although the store
// failed, or denies it, is this one.
func (r record) swap(op string, body []byte) (bool, error) {
	next := sealed(r.store, r.key, body)
	ok, err := r.store.Swap(r.key, r.value, next.value)
	if ok && err == nil {
		return true, nil
	}
	now, found, bad := r.store.Load(r.key)
	if bad == nil && found && bytes.Equal(now, next.value) {
		return true, nil
	}
	switch {
	case err != nil:
		err = fmt.Errorf("%s: Store.Swap: %w", op, err)
	case bad != nil: // without it nobody knows that the swap was not done
		err = fmt.Errorf("%s: Store.Load: %w", op, bad)
	}
	return false, err
}

// sealed is a record with its checksum.
func sealed(s Store, key string, body []byte) record {
	return record{s, key, slices.Concat(checksum(key, body), []byte(" "), body), body}
}

func checksum(key string, body []byte) []byte {
	sum := sha256.Sum256(frame(frame(nil, key), body))
	return hex.AppendEncode(nil, sum[:])
}

// tries ends the attempts at a record that others change meanwhile: each that fails is one of
// theirs that does not.
const tries = 1000

// errBusy is the end of them.
var errBusy = fmt.Errorf("the store refused %d changes of one record, as others were faster", tries)

// pause waits before another attempt, a random time that grows to some milliseconds.
func pause(attempt int) {
	sleep(time.Duration(rand.Int64N(int64(50 * time.Microsecond << min(attempt, 7)))))
}

var sleep = func(d time.Duration) {
	if runtime.GOOS != "js" {
		time.Sleep(d)
		return
	}
	for start := time.Now(); time.Since(start) < d; { // what answers a page may not sleep
		runtime.Gosched()
	}
}

// unique is a text that nobody else has.
func unique() string {
	var b [16]byte
	crand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}

// saltRecord comes before the salt in its record, with the version of all records. Those of
// version 2 are read; what wrote them does not read these.
const saltRecord, oldSaltRecord = "metricdp.store/3 ", "metricdp.store/2 "

// loadSalt returns the salt of a store, a new one where there is none.
func loadSalt(op string, s Store) (salt []byte, err error) {
	const key = "salt"
	for range tries {
		r, err := load(op, s, key)
		if err != nil {
			return nil, err
		}
		text, current := bytes.CutPrefix(r.body, []byte(saltRecord))
		if !current && r.value != nil {
			var old bool
			if text, old = bytes.CutPrefix(r.body, []byte(oldSaltRecord)); !old {
				return nil, fmt.Errorf("%s: the store is of another version of this library: %.40q", op, r.body)
			}
		}
		salt := make([]byte, minSecret)
		if r.value == nil {
			crand.Read(salt) // never fails
		} else if n, _ := hex.Decode(salt, text[:min(len(text), 2*minSecret)]); n != minSecret || len(text) != 2*minSecret {
			return nil, fmt.Errorf("%s: %w: %s", op, ErrRecord, key)
		}
		if current {
			return salt, nil
		}
		if _, err := r.swap(op, fmt.Appendf(nil, "%s%x", saltRecord, salt)); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("%s: %w", op, errBusy)
}

// loadHashed returns the record whose key is the hash of the parts.
func loadHashed(op string, s Store, kind string, parts ...string) (r record, err error) {
	salt, err := loadSalt(op, s)
	if err != nil {
		return r, err
	}
	var framed []byte
	for _, p := range parts {
		framed = frame(framed, p)
	}
	mac := hmac.New(sha256.New, salt)
	mac.Write(framed)
	if r, err = load(op, s, fmt.Sprintf("%s-%x", kind, mac.Sum(nil))); r.value != nil || err != nil {
		return r, err
	}
	// Version 1 had no salt. To pass over its record would be a second draw, or a budget
	// that is spent twice. Its key is in no message: it needs no salt to be guessed.
	old := fmt.Sprintf("%s-%x", kind, sha256.Sum256(framed))
	_, ok, err := s.Load(old)
	if err != nil {
		return r, fmt.Errorf("%s: Store.Load: %w", op, renamed{err, old, r.key})
	}
	if ok {
		return r, fmt.Errorf("%s: %s was written by an earlier version of this library, which this one does not read: take another Name, which draws and spends anew", op, r.key)
	}
	return r, nil
}

// renamed is an error with another key in its text.
type renamed struct {
	error
	from, to string
}

func (e renamed) Error() string { return strings.ReplaceAll(e.error.Error(), e.from, e.to) }

func (e renamed) Unwrap() error { return e.error }

// frame appends b with its length, so that no two lists of parts read alike.
func frame[B string | []byte](dst []byte, b B) []byte {
	return append(binary.LittleEndian.AppendUint64(dst, uint64(len(b))), b...)
}
