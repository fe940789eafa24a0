package oauth

import (
	"slices"
	"sync"
	"time"
)

// memory is what an Authorizer knows without asking its store. Its lock is never held while something is waited for.
type memory struct {
	mu      sync.Mutex
	record  *record // as it was last read or written, never changed; nil before that
	unsaved bool    // record is newer than the store's
	writes  uint64  // of record, under the lock of the store

	token  string // the access token that the following is about
	source source
	proven bool // the server has accepted it

	need    *SignInRequiredError // the last one that was returned, nil after a sign-in
	refused string               // the last access token that the server refused and that was not replaced
	steps   []step               // the last step-ups
	failed  failure              // the last renewal, if it failed
	late    time.Time            // when what is unsaved could not be saved once more
}

// source is how this process came to an access token.
type source int

const (
	fromStore source = iota
	renewed
	fromUser
	renewedAtOnce // in place of one from the user that the server never accepted
)

// A step is a scope for which users were asked to sign in again, and how often that was.
type step struct {
	scopes string
	token  string // that was too narrow the last time
	count  int
	last   time.Time
}

const (
	maxStepUps   = 2                // sign-ins for one scope until it is given up
	stepUpMemory = 10 * time.Minute // after the last of them
	maxSteps     = 16               // scopes that are remembered
)

// A failure keeps callers from asking again and again what was refused a moment ago.
type failure struct {
	token string
	err   error
	at    time.Time
}

// renewPause is how long a renewal that failed is not tried again, nor the saving of what it brought.
const renewPause = 2 * time.Second

func (m *memory) held() *credentials {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.record == nil {
		return nil
	}
	return m.record.Credentials
}

func (m *memory) known() (r *record, unsaved bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.record, m.unsaved
}

func (m *memory) written() uint64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.writes
}

// load publishes a record that was read without the lock, unless one was written since, or a later one is still to be
// saved.
func (m *memory) load(r *record, since uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.writes != since || m.unsaved && r.Generation <= m.record.Generation {
		return
	}
	m.set(r)
}

// put publishes a record that is read or written under the lock, while that is held: so it comes in the order of the
// store.
func (m *memory) put(r *record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.writes++
	m.set(r)
}

// lost notes that a record was not saved after all.
func (m *memory) lost(r *record) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.record == r {
		m.unsaved = true
	}
}

func (m *memory) set(r *record) {
	m.record, m.unsaved = r, false
	if c := r.Credentials; c == nil || c.AccessToken != m.token {
		m.token, m.source, m.proven = "", fromStore, false
		if c != nil {
			m.token = c.AccessToken
		}
	}
}

func (m *memory) obtained(token string, from source) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failed = failure{}
	if m.token == token {
		m.source, m.proven = from, false
	}
	if from == fromUser {
		m.need = nil
	}
}

func (m *memory) signedIn(token string) { m.obtained(token, fromUser) }

// accepted notes that the server took a token.
func (m *memory) accepted(token string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.token == token {
		m.proven = true
	}
}

// fresh tells how this process came to a token that the server has never accepted; ok is false for any other.
func (m *memory) fresh(token string) (from source, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.source, m.token == token && m.source != fromStore && !m.proven
}

func (m *memory) required() *SignInRequiredError {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.need
}

func (m *memory) require(need *SignInRequiredError) *SignInRequiredError {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.need = need
	return need
}

func (m *memory) refuse(token string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.refused = token
}

func (m *memory) wasRefused(token string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.refused == token
}

// stepUp counts the tokens that were too narrow for these scopes, and reports whether another try is worth it.
func (m *memory) stepUp(scopes, token string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	m.steps = slices.DeleteFunc(m.steps, func(s step) bool { return now.Sub(s.last) > stepUpMemory })
	i := slices.IndexFunc(m.steps, func(s step) bool { return s.scopes == scopes })
	if i < 0 {
		if len(m.steps) == maxSteps {
			m.steps = m.steps[1:]
		}
		m.steps = append(m.steps, step{scopes: scopes})
		i = len(m.steps) - 1
	}
	s := &m.steps[i]
	if s.token != token {
		s.token, s.last = token, now
		s.count++
	}
	return s.count <= maxStepUps
}

func (m *memory) fail(token string, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failed = failure{token: token, err: err, at: time.Now()}
}

// failure returns why a token could not be renewed a moment ago, nil if there was nothing like that.
func (m *memory) failure(token string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f := m.failed; f.err != nil && f.token == token && time.Since(f.at) < renewPause {
		return f.err
	}
	return nil
}

func (m *memory) failSave() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.late = time.Now()
}

// savesAgain reports whether it is time to try to save what is unsaved.
func (m *memory) savesAgain() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.unsaved && time.Since(m.late) >= renewPause
}

func (m *memory) clear() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.record, m.unsaved, m.token = &record{}, false, ""
	m.writes++
	m.source, m.proven, m.need, m.refused, m.steps, m.failed = fromStore, false, nil, "", nil, failure{}
}
