package pipe

import (
	"io"
	"sync/atomic"
	"time"

	"github.com/seed62b61957/mcp/internal/goexit"
)

// silence is how long the output of a program that has ended may be silent before it is over.
const silence = 100 * time.Millisecond

// output reads the output of a program on a goroutine of its own: an [io.Reader] alone gives no way to stop waiting for
// it. Once nobody wants the rest it is read away, so that a program that writes its last words can end.
type output struct {
	src   io.Reader
	read  *io.PipeReader // for the connection
	write *io.PipeWriter

	ended chan struct{} // closed at the end of src
	err   error         // that src ended with; nil for io.EOF

	reads   atomic.Int64 // reads of src that returned
	handing atomic.Bool  // what was read is not yet taken
}

func startOutput(src io.Reader) *output {
	o := &output{src: src, ended: make(chan struct{})}
	o.read, o.write = io.Pipe()
	go o.pump()
	return o
}

func (o *output) pump() {
	defer close(o.ended)
	defer o.write.CloseWithError(goexit.Err) // unless it is closed already
	buf := make([]byte, 16<<10)
	for {
		n, err := o.src.Read(buf)
		o.handing.Store(true)
		o.reads.Add(1)
		if n > 0 {
			_, _ = o.write.Write(buf[:n]) // fails once nobody wants it
		}
		o.handing.Store(false)
		if err != nil {
			if err != io.EOF {
				o.err = err
			}
			_ = o.write.CloseWithError(err)
			return
		}
	}
}

// endAfterSilence ends what the connection reads once src is silent, or stop is closed. It is for a program that has
// ended while its output stays open.
func (o *output) endAfterSilence(stop <-chan struct{}) {
	tick := time.NewTicker(silence)
	defer tick.Stop()
	for seen := o.reads.Load(); ; seen = o.reads.Load() {
		select {
		case <-tick.C:
		case <-o.ended:
			return
		case <-stop:
			return
		}
		if !o.handing.Load() && o.reads.Load() == seen {
			_ = o.write.Close()
			return
		}
	}
}
