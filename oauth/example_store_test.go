package oauth_test

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/seed62b61957/mcp/oauth"
)

// What the processes of a user share is a folder in the user's profile.
func ExampleNewFileStore() {
	config, err := os.UserConfigDir()
	if err != nil {
		log.Fatal(err)
	}
	store, err := oauth.NewFileStore(filepath.Join(config, "my-agent", "oauth"))
	if err != nil {
		log.Fatal(err)
	}
	_ = oauth.Config{Server: "https://mcp.example.com/mcp", Store: store}
}

// A key of 32 bytes, which a real program has from a key management service or the system's keychain, encrypts what any
// store keeps.
func ExampleSealed() {
	key := make([]byte, 32)
	_, _ = rand.Read(key)
	block, err := aes.NewCipher(key)
	if err != nil {
		log.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		log.Fatal(err)
	}

	within := oauth.NewMemoryStore() // or a file store, or oauth/sqlstore
	store := oauth.Sealed(within, aead)

	ctx := context.Background()
	err = store.Update(ctx, "user 7", func([]byte) ([]byte, error) { return []byte("a refresh token"), nil })
	if err != nil {
		log.Fatal(err)
	}
	opened, _ := store.Load(ctx, "user 7")
	kept, _ := within.Load(ctx, "user 7")
	fmt.Printf("%s, kept as %d bytes that say nothing\n", opened, len(kept))
	// Output: a refresh token, kept as 44 bytes that say nothing
}
