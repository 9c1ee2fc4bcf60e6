//go:build !amd64

package simd

func tiers() []*kernels { return []*kernels{plainTier()} }
