//go:build !unix

package device

import "unsafe"

// mapPages takes size bytes of zeros from Go's heap, aligned to 64 bytes.
func mapPages(size int) ([]byte, error) {
	mem := make([]byte, size+63)
	offset := int(-uintptr(unsafe.Pointer(&mem[0])) & 63)
	return mem[offset : offset+size : offset+size], nil
}

// unmapPages leaves them to the garbage collector.
func unmapPages([]byte) {}
