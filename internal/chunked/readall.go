package chunked

import (
	"bytes"
	"io"
	"math"
)

const (
	// firstBytes is what ReadAll begins with where nobody says how much there is.
	firstBytes = 512
	// maxHint is how much ReadAll begins with at most, whatever the sender says that there is.
	maxHint = 16 << 20
)

// ReadAll reads r to its end, or until there is more than limit, which it reports at once. Hint is the size that the
// sender names, less than 0 if it names none: what is read is kept in chunks of the pool then, so that memory of its
// own is taken once, when the size is known. So is what comes beyond the first 16 MiB.
func ReadAll(r io.Reader, limit int, hint int64) (data []byte, over bool, err error) {
	if hint > int64(limit) {
		return nil, true, nil
	}
	limit = min(limit, math.MaxInt-1)                           // a byte more is read to find that there is more
	room := make([]byte, max(min(hint, maxHint)+1, firstBytes)) // and one more than there is to find the end
	var parts [][]byte
	defer func() {
		for _, part := range parts[min(1, len(parts)):] {
			Put((*Chunk)(part[:ChunkBytes]))
		}
	}()
	for size := 0; ; room = Get()[:] {
		room = room[:min(len(room), limit+1-size)]
		n, err := fill(r, room)
		size += n
		parts = append(parts, room[:n])
		switch {
		case size > limit:
			return nil, true, nil
		case err == nil:
		case err != io.EOF:
			return nil, false, err
		case len(parts) == 1:
			return parts[0], false, nil
		default:
			return bytes.Join(parts, nil), false, nil
		}
	}
}

// fill reads until buf is full, and returns the error that it ends with before.
func fill(r io.Reader, buf []byte) (n int, err error) {
	for n < len(buf) {
		read, err := r.Read(buf[n:])
		if n += read; err != nil {
			return n, err
		}
	}
	return n, nil
}
