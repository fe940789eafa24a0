package oauth_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/seed62b61957/mcp/oauth"
	"github.com/seed62b61957/mcp/oauth/storetest"
)

func newGCM(t *testing.T, fill byte) cipher.AEAD {
	t.Helper()
	block, err := aes.NewCipher(bytes.Repeat([]byte{fill}, 32))
	require.NoError(t, err)
	aead, err := cipher.NewGCM(block)
	require.NoError(t, err)
	return aead
}

// newOwnNonceGCM makes its nonces itself: its NonceSize is 0.
func newOwnNonceGCM(t *testing.T) cipher.AEAD {
	t.Helper()
	block, err := aes.NewCipher(make([]byte, 32))
	require.NoError(t, err)
	aead, err := cipher.NewGCMWithRandomNonce(block)
	require.NoError(t, err)
	return aead
}

func TestSealed(t *testing.T) {
	for name, aead := range map[string]cipher.AEAD{"nonce": newGCM(t, 1), "own nonce": newOwnNonceGCM(t)} {
		t.Run(name, func(t *testing.T) {
			storetest.Run(t, func(*testing.T) oauth.Store { return oauth.Sealed(oauth.NewMemoryStore(), aead) })
		})
	}
}

// newSealed returns a sealed store with a record of the key "key", and the store within.
func newSealed(t *testing.T) (store, within oauth.Store) {
	t.Helper()
	within = oauth.NewMemoryStore()
	store = oauth.Sealed(within, newGCM(t, 1))
	require.NoError(t, save(t, store, "key", "a secret record"))
	return store, within
}

func TestSealedRecordShowsNothing(t *testing.T) {
	store, within := newSealed(t)
	first := load(t, within, "key")
	assert.NotContains(t, first, "secret")
	require.NoError(t, save(t, store, "key", "another"))
	require.NoError(t, save(t, store, "key", "a secret record"))
	assert.NotEqual(t, first, load(t, within, "key"), "a nonce was used twice")
}

func TestSealedRecordThatIsEqualIsNotWritten(t *testing.T) {
	store, within := newSealed(t)
	before := load(t, within, "key")
	require.NoError(t, save(t, store, "key", "a secret record"))
	assert.Equal(t, before, load(t, within, "key"))
}

// Whatever an attacker who can write to the store does, but to put back an older record, is noticed.
func TestSealedRecordThatCannotBeOpened(t *testing.T) {
	_, within := newSealed(t)
	box := load(t, within, "key")
	boxes := map[string]string{
		"not sealed":      `{"version":1}`,
		"version alone":   box[:1],
		"nonce alone":     box[:13],
		"cut":             box[:len(box)-1],
		"longer":          box + "x",
		"another version": "\x02" + box[1:],
	}
	for i := range len(box) {
		altered := []byte(box)
		altered[i] ^= 1
		boxes["bit of byte "+string(rune('a'+i))] = string(altered)
	}
	for name, altered := range boxes {
		require.NoError(t, save(t, within, "key", altered))
		requireSealed(t, oauth.Sealed(within, newGCM(t, 1)), "key", name)
		assert.Equal(t, altered, load(t, within, "key"), name)
	}

	require.NoError(t, save(t, within, "other key", box))
	requireSealed(t, oauth.Sealed(within, newGCM(t, 1)), "other key", "moved")
	require.NoError(t, save(t, within, "key", box))
	requireSealed(t, oauth.Sealed(within, newGCM(t, 2)), "key", "another AEAD")
}

func requireSealed(t *testing.T, store oauth.Store, key, name string) {
	t.Helper()
	_, err := store.Load(t.Context(), key)
	require.ErrorIs(t, err, oauth.ErrSealed, name)
	err = store.Update(t.Context(), key, func([]byte) ([]byte, error) { return nil, errors.New("change was called") })
	require.ErrorIs(t, err, oauth.ErrSealed, name)
}

func TestSealedWithANewKeyOpensOldRecords(t *testing.T) {
	_, within := newSealed(t)
	replaced := oauth.Sealed(within, newOwnNonceGCM(t), newGCM(t, 2), newGCM(t, 1))
	assert.Equal(t, "a secret record", load(t, replaced, "key"))
	require.NoError(t, save(t, replaced, "key", "new"))
	assert.Equal(t, "new", load(t, oauth.Sealed(within, newOwnNonceGCM(t)), "key"))
	requireSealed(t, oauth.Sealed(within, newGCM(t, 1)), "key", "the old key alone")
}

func TestSealedRefusesShortNonces(t *testing.T) {
	block, err := aes.NewCipher(make([]byte, 32))
	require.NoError(t, err)
	short, err := cipher.NewGCMWithNonceSize(block, 8)
	require.NoError(t, err)
	for _, aeads := range [][]cipher.AEAD{{short}, {newGCM(t, 1), short}} {
		assert.PanicsWithValue(t, "oauth: Sealed: nonces of 8 bytes are too short to be random", func() {
			oauth.Sealed(oauth.NewMemoryStore(), aeads[0], aeads[1:]...)
		})
	}
}
