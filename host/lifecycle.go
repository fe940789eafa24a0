package host

// What the host asks of a server.

// apply asks for a server like a spec. It reports false if there is one already.
func (s *server) apply(sp *spec) (turn int, asked bool) {
	s.mu.Lock()
	same := sp == s.spec || sp.equal(s.spec)
	running := s.up && s.status.State != Failed
	s.mu.Unlock()
	if same && running {
		return 0, false
	}
	turn = s.ask(func() {
		if !same {
			close(s.spec.replaced)
			s.spec, s.offering = sp, nil
		}
		s.up, s.now, s.gone = true, false, false
	})
	return turn, true
}

// remove asks for nothing to be left of the server.
func (s *server) remove() {
	s.ask(func() { s.up, s.now, s.gone = false, false, true })
}

// askIf asks for something if change says that it is needed, and returns the turn to wait for.
func (s *server) askIf(change func() bool) int {
	s.mu.Lock()
	needed := change()
	turn := s.turn
	s.announce()
	if !needed {
		return turn
	}
	return s.ask(func() {})
}

func (s *server) isGone() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone
}

// isUp reports whether the server can be used. s.mu is held.
func (s *server) isUp() bool { return s.conn != nil || s.status.State == Idle }

// isDown reports whether the server does not run, and is not to. s.mu is held.
func (s *server) isDown() bool { return s.status.State == Stopped || s.status.State == Disabled }

// startupError is the error of Apply for a server that must start.
func (s *server) startupError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.spec.options.FailOnStartupError {
		return nil
	}
	e := s.failure()
	switch s.status.State {
	case Ready:
		if e.Err = s.status.ListErr; e.Err == nil {
			return nil
		}
	case Disabled, Idle:
		return nil
	}
	return wrap(e)
}
