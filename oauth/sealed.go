package oauth

import (
	"bytes"
	"context"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"fmt"
)

// ErrSealed is matched by the error of a [Sealed] store for a record that it cannot open: it was sealed with another
// key, altered, moved here from another key of the store, or never sealed. Such a record is not replaced. Whoever has
// lost the AEAD's key removes the record from the store within; the user signs in again.
var ErrSealed = errors.New("the stored record cannot be opened")

// sealedVersion is the first byte of a sealed record; then the nonce, and what the AEAD made of the record. No record
// that is not sealed starts with it.
const sealedVersion = 1

// sealedPurpose is bound to each record together with its key in the store, so that nothing else that was encrypted
// with the same AEAD is taken for a record, nor one user's record for another's.
const sealedPurpose = "mcp oauth record\x00"

// Sealed returns a store that keeps its records in store, encrypted with aead: AES-256-GCM and XChaCha20-Poly1305 are
// good choices. Every record has a random nonce, so aead must take nonces of 12 bytes or more, or make its own as
// [cipher.NewGCMWithRandomNonce] does; for any other Sealed panics. The keys of the records are not encrypted.
//
// To replace a key, give the former AEAD as an old one: records are opened with any, and sealed with aead when they are
// next saved. aead and old must be safe for concurrent use, as those of the standard library are.
//
// An attacker who can write to the store can still put back an older record of the same key, as no cipher hinders.
func Sealed(store Store, aead cipher.AEAD, old ...cipher.AEAD) Store {
	s := &sealed{store: store, aeads: append([]cipher.AEAD{aead}, old...)}
	for _, a := range s.aeads {
		if n := a.NonceSize(); n > 0 && n < 12 {
			panic(fmt.Sprintf("oauth: Sealed: nonces of %d bytes are too short to be random", n))
		}
	}
	return s
}

type sealed struct {
	store Store
	aeads []cipher.AEAD // the first one seals
}

// Load implements [Store].
func (s *sealed) Load(ctx context.Context, key string) ([]byte, error) {
	box, err := s.store.Load(ctx, key)
	if err != nil {
		return nil, err
	}
	return s.open(key, box)
}

// Update implements [Store].
func (s *sealed) Update(ctx context.Context, key string, change func([]byte) ([]byte, error)) error {
	return s.store.Update(ctx, key, func(box []byte) ([]byte, error) {
		old, err := s.open(key, bytes.Clone(box))
		if err != nil {
			return nil, err
		}
		record, err := change(bytes.Clone(old))
		if err != nil {
			return nil, err
		}
		if bytes.Equal(record, old) {
			return box, nil // which need not be written
		}
		return s.seal(key, record), nil
	})
}

func (s *sealed) seal(key string, record []byte) []byte {
	if len(record) == 0 {
		return nil
	}
	aead := s.aeads[0]
	box := make([]byte, 1+aead.NonceSize(), 1+aead.NonceSize()+len(record)+aead.Overhead())
	box[0] = sealedVersion
	nonce := box[1:]
	_, _ = rand.Read(nonce) // never fails
	return aead.Seal(box, nonce, record, bound(key))
}

func (s *sealed) open(key string, box []byte) ([]byte, error) {
	if len(box) == 0 {
		return nil, nil
	}
	if box[0] != sealedVersion {
		return nil, fmt.Errorf("%w: it is not sealed, or by a later version", ErrSealed)
	}
	for _, aead := range s.aeads {
		n := 1 + aead.NonceSize()
		if len(box) < n+aead.Overhead() {
			continue
		}
		if record, err := aead.Open(nil, box[1:n], box[n:], bound(key)); err == nil {
			return record, nil
		}
	}
	return nil, fmt.Errorf("%w: another key, another place or altered", ErrSealed)
}

// bound is the associated data. The version is in it, too, so that a later one can differ in more than the format.
func bound(key string) []byte {
	return append([]byte{sealedVersion}, sealedPurpose+key...)
}
