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
	"slices"
	"sync"
)

// Store keeps the records of [Sticky] and [Budget] beyond the life of a process: a folder, a
// table of a database. Keys are of ASCII letters, digits and '-', at most 80 of them. Values
// are ASCII or JSON text, some hundred bytes for a place. A store needs the care that the
// secrets need.
//
// Keys are hashes of names and inputs (HMAC-SHA256) under a salt of 32 random bytes, which the
// store holds under the key "salt": without it a key tells nothing; who reads the whole store
// can try guesses. Without its salt a store is a new one: what was drawn and spent is
// forgotten. Records of other versions of this library are an error.
//
// A Store may be used by several goroutines. Within a process Stickies and Budgets of one name
// take turns, however many there are. Nothing arbitrates between processes: a Store serves one
// at a time, and with two, each would draw, and spend, what the other one did already.
type Store interface {
	// Load returns the last value that was saved under the key, and false where there
	// is none. What it cannot tell, such as a file that cannot be read, is an error.
	Load(key string) (value []byte, ok bool, err error)
	// Save replaces the value of the key. When it returns nil the value must survive
	// whatever the process is to survive, a crash for one; when it returns an error,
	// Load must return the value before or the new one, whole.
	Save(key string, value []byte) error
}

// ErrRecord reports a record of a [Store] that is not as it was saved: damaged, of
// another key, or of something else.
var ErrRecord = errors.New("a damaged record in the store")

// memory is the Store of one Sticky or Budget.
type memory map[string][]byte

func (m memory) Load(key string) ([]byte, bool, error) {
	value, ok := m[key]
	return value, ok, nil
}

func (m memory) Save(key string, value []byte) error {
	m[key] = value
	return nil
}

// turn names what is done by one goroutine of the process at a time.
type turn struct {
	of   any // a name, whatever the Store, as two Stores may be one; or what has its own memory
	what string
}

// turns has a lock for every turn that somebody has or waits for, and for no other.
var turns = struct {
	sync.Mutex
	locks map[turn]*turnLock
}{locks: map[turn]*turnLock{}}

type turnLock struct {
	sync.Mutex
	users int
}

// take waits for the turn, and returns what ends it.
func (t turn) take() (end func()) {
	turns.Lock()
	l := turns.locks[t]
	if l == nil {
		l = new(turnLock)
		turns.locks[t] = l
	}
	l.users++
	turns.Unlock()
	l.Lock()
	return func() {
		l.Unlock()
		turns.Lock()
		defer turns.Unlock()
		if l.users--; l.users == 0 {
			delete(turns.locks, t)
		}
	}
}

// load returns the body of the record of a key. What is not whole is [ErrRecord].
func load(op string, s Store, key string) (body []byte, ok bool, err error) {
	value, ok, err := s.Load(key)
	if err != nil {
		return nil, false, fmt.Errorf("%s: Store.Load: %w", op, err)
	}
	if !ok {
		return nil, false, nil
	}
	sum, body, _ := bytes.Cut(value, []byte(" "))
	if !bytes.Equal(sum, checksum(key, body)) {
		return nil, false, fmt.Errorf("%s: %w: %s", op, ErrRecord, key)
	}
	return body, true, nil
}

// save puts the body of a record under a key, with a checksum of both.
func save(op string, s Store, key string, body []byte) error {
	if err := s.Save(key, slices.Concat(checksum(key, body), []byte(" "), body)); err != nil {
		return fmt.Errorf("%s: Store.Save: %w", op, err)
	}
	return nil
}

func checksum(key string, body []byte) []byte {
	return fmt.Appendf(nil, "%x", sha256.Sum256(frame(frame(nil, key), body)))
}

// salting is to make a salt, for one store at a time, as several names may have one.
var salting = turn{what: "salt"}

// saltRecord comes before the salt in its record, with the version of all records.
const saltRecord = "metricdp.store/2 "

// loadSalt returns the salt of a store, a new one where there is none.
func loadSalt(op string, s Store) (salt []byte, err error) {
	const key = "salt"
	find := func() (salt []byte, ok bool, err error) {
		body, ok, err := load(op, s, key)
		if !ok || err != nil {
			return nil, false, err
		}
		text, ok := bytes.CutPrefix(body, []byte(saltRecord))
		if !ok {
			return nil, false, fmt.Errorf("%s: the store is of another version of this library: %.40q", op, body)
		}
		if salt, err = hex.DecodeString(string(text)); err != nil || len(salt) != minSecret {
			return nil, false, fmt.Errorf("%s: %w: %s", op, ErrRecord, key)
		}
		return salt, true, nil
	}
	if salt, ok, err := find(); ok || err != nil {
		return salt, err
	}
	defer salting.take()()
	if salt, ok, err := find(); ok || err != nil {
		return salt, err // made meanwhile
	}
	salt = make([]byte, minSecret)
	crand.Read(salt) // never fails
	return salt, save(op, s, key, fmt.Appendf(nil, "%s%x", saltRecord, salt))
}

// loadFirst returns the key of the record that belongs to the parts, and its body if there
// is one.
func loadFirst(op string, s Store, kind string, parts ...string) (key string, body []byte, ok bool, err error) {
	salt, err := loadSalt(op, s)
	if err != nil {
		return "", nil, false, err
	}
	var framed []byte
	for _, p := range parts {
		framed = frame(framed, p)
	}
	mac := hmac.New(sha256.New, salt)
	mac.Write(framed)
	key = fmt.Sprintf("%s-%x", kind, mac.Sum(nil))
	if body, ok, err = load(op, s, key); ok || err != nil {
		return key, body, ok, err
	}
	// Version 1 had no salt. To pass over its record would be a second draw, or a budget
	// that is spent twice.
	old := fmt.Sprintf("%s-%x", kind, sha256.Sum256(framed))
	if _, ok, err = s.Load(old); err != nil {
		return "", nil, false, fmt.Errorf("%s: Store.Load: %w", op, err)
	}
	if ok {
		return "", nil, false, fmt.Errorf("%s: %s was written by an earlier version of this library, which this one does not read: take another Name, which draws and spends anew", op, old)
	}
	return key, nil, false, nil
}

// frame appends b with its length, so that no two lists of parts read alike.
func frame[B string | []byte](dst []byte, b B) []byte {
	return append(binary.LittleEndian.AppendUint64(dst, uint64(len(b))), b...)
}
