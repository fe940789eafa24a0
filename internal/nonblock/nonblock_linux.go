package nonblock

import "syscall"

func isNonblocking(fd uintptr) bool {
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
	return errno == 0 && flags&syscall.O_NONBLOCK != 0
}

func read(fd uintptr, p []byte) (n int, err error) {
	return uninterrupted(syscall.Read, fd, p)
}

func write(fd uintptr, p []byte) (n int, err error) {
	return uninterrupted(syscall.Write, fd, p)
}

func uninterrupted(call func(int, []byte) (int, error), fd uintptr, p []byte) (n int, err error) {
	for {
		if n, err = call(int(fd), p); err != syscall.EINTR {
			return n, err
		}
	}
}
