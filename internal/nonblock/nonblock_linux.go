package nonblock

import "syscall"

func isNonblocking(fd uintptr) bool {
	flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
	return errno == 0 && flags&syscall.O_NONBLOCK != 0
}

func write(fd uintptr, p []byte) (n int) {
	for {
		n, err := syscall.Write(int(fd), p)
		if err != syscall.EINTR {
			return n
		}
	}
}
