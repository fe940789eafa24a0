package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os/exec"
	"sync"
)

// floorStream speaks lines. With one caller that one reads for itself; with more, a goroutine reads for all.
type floorStream struct {
	in     *bufio.Reader
	single bool
	end    func() error

	writing sync.Mutex // apart from mu, which the reader needs while the server waits for it to read
	w       io.Writer

	mu      sync.Mutex
	pending map[int64]chan []byte
	on      func([]byte)
	err     error
	reading sync.WaitGroup
}

func newFloorStream(a address) (*floorStream, error) {
	s := &floorStream{single: a.single, pending: make(map[int64]chan []byte)}
	switch a.wire {
	case unixWire, memory:
		conn, err := a.dial()
		if err != nil {
			return nil, err
		}
		s.w, s.in, s.end = conn, bufio.NewReaderSize(conn, floorBuffer), conn.Close
	default:
		cmd := exec.Command(a.command[0], a.command[1:]...)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			return nil, err
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			return nil, err
		}
		if err := cmd.Start(); err != nil {
			return nil, err
		}
		s.w, s.in = stdin, bufio.NewReaderSize(stdout, floorBuffer)
		s.end = func() error { return errors.Join(stdin.Close(), cmd.Wait()) }
	}
	if !s.single {
		s.reading.Go(s.read)
	}
	return s, nil
}

const floorBuffer = 32 << 10

func (s *floorStream) read() {
	for {
		line, err := s.in.ReadBytes('\n')
		if err != nil {
			s.fail(err)
			return
		}
		id, _, err := cut(line[:len(line)-1])
		if err != nil {
			s.fail(err)
			return
		}
		s.mu.Lock()
		wake, on := s.pending[id], s.on
		delete(s.pending, id)
		s.mu.Unlock()
		switch {
		case wake != nil:
			wake <- line[:len(line)-1]
		case on != nil:
			on(line)
		}
	}
}

func (s *floorStream) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
	for _, wake := range s.pending {
		close(wake)
	}
	s.pending = nil
}

func (s *floorStream) roundTrip(
	_ context.Context, id int64, _ string, request []byte, on func([]byte),
) ([]byte, error) {
	if s.single {
		return s.alone(request, on)
	}
	wake := make(chan []byte, 1)
	s.mu.Lock()
	if s.err != nil {
		s.mu.Unlock()
		return nil, s.err
	}
	s.pending[id] = wake
	if on != nil {
		s.on = on
	}
	s.mu.Unlock()
	if err := s.write(request); err != nil {
		return nil, err
	}
	message, ok := <-wake
	if !ok {
		return nil, s.err
	}
	return message, nil
}

func (s *floorStream) alone(request []byte, on func([]byte)) ([]byte, error) {
	if err := s.write(request); err != nil {
		return nil, err
	}
	for {
		line, err := s.in.ReadBytes('\n')
		if err != nil {
			return nil, err
		}
		if id, _, err := cut(line[:len(line)-1]); id != 0 || err != nil {
			return line[:len(line)-1], err
		}
		on(line)
	}
}

func (s *floorStream) notify(_ context.Context, message []byte) error { return s.write(message) }

func (s *floorStream) write(message []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := s.w.Write(append(message, '\n'))
	return err
}

func (s *floorStream) close() error {
	err := s.end()
	s.reading.Wait()
	return err
}
