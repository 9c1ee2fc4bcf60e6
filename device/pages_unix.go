//go:build unix

package device

import "golang.org/x/sys/unix"

// mapPages takes size bytes of zeros from the operating system, aligned to a page.
func mapPages(size int) ([]byte, error) {
	return unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
}

// unmapPages gives them back. It can only fail for memory that mapPages did not return.
func unmapPages(mem []byte) { _ = unix.Munmap(mem) }
