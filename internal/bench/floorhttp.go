package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
)

// floorHTTP posts with net/http, as every driver does.
type floorHTTP struct {
	url     string
	modern  bool
	client  *http.Client
	session string
}

func newFloorHTTP(a address) *floorHTTP {
	return &floorHTTP{url: a.url, modern: a.modern, client: peerClient()}
}

func (h *floorHTTP) post(ctx context.Context, method string, message []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(message))
	if err != nil {
		return nil, err
	}
	req.Header["Content-Type"] = []string{"application/json"}
	req.Header["Accept"] = []string{"application/json, text/event-stream"}
	switch {
	case h.modern:
		req.Header["Mcp-Protocol-Version"] = []string{"2026-07-28"}
		req.Header["Mcp-Method"] = []string{method}
	case h.session != "":
		req.Header["Mcp-Protocol-Version"] = []string{"2025-11-25"}
		req.Header["Mcp-Session-Id"] = []string{h.session}
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return nil, err
	}
	if id := resp.Header.Get("Mcp-Session-Id"); id != "" {
		h.session = id
	}
	if resp.StatusCode > 299 {
		resp.Body.Close()
		return nil, errors.New(resp.Status)
	}
	return resp, nil
}

func (h *floorHTTP) roundTrip(
	ctx context.Context, _ int64, method string, request []byte, on func([]byte),
) ([]byte, error) {
	resp, err := h.post(ctx, method, request)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		return readEvents(resp.Body, on)
	}
	if resp.ContentLength > 0 {
		body := make([]byte, resp.ContentLength)
		_, err = io.ReadFull(resp.Body, body)
		return body, err
	}
	return io.ReadAll(resp.Body)
}

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, floorBuffer) }}

// readEvents reads data lines up to the answer, and what comes behind it.
func readEvents(body io.Reader, on func([]byte)) ([]byte, error) {
	in := readers.Get().(*bufio.Reader)
	defer readers.Put(in)
	in.Reset(body)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return nil, fmt.Errorf("the stream ended without an answer: %w", err)
		}
		data, ok := bytes.CutPrefix(line[:len(line)-1], []byte("data: "))
		if !ok {
			continue
		}
		if id, _, err := cut(data); id == 0 && err == nil {
			on(data)
			continue
		}
		_, err = io.Copy(io.Discard, in)
		return data, err
	}
}

func (h *floorHTTP) notify(ctx context.Context, message []byte) error {
	resp, err := h.post(ctx, "", message)
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

func (h *floorHTTP) close() error { return nil }
