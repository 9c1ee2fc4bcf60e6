# Everything here is also one plain command; see the recipes.
.PHONY: all build test race vet generate ptx bench smoke clean gpu gpu-env gpu-test

all: vet test build

# One static binary: no C compiler, no shared library.
build:
	CGO_ENABLED=0 go build -trimpath -o konkanitrain ./cmd/konkanitrain

# One binary that also runs on NVIDIA cards. Making it needs gcc and no CUDA toolkit, starting it no driver.
gpu:
	eval "$$(go run ./device/cuda/gencuda)" && go build -trimpath -tags gpu -o konkanitrain-gpu ./cmd/konkanitrain
	@if ldd konkanitrain-gpu | grep -E 'libcu|libnv' || nm konkanitrain-gpu | grep -E ' U (cu|nvml)'; then echo "konkanitrain-gpu is bound to a library of NVIDIA's"; exit 1; fi

# The settings for the go command with the tag gpu: eval "$$(make -s gpu-env)" && go test -tags gpu ./device/cuda/...
gpu-env:
	@go run ./device/cuda/gencuda

# With g++: on a simulated card.
gpu-test:
	eval "$$(go run ./device/cuda/gencuda)" && go vet -tags gpu ./... && go test -tags gpu ./...

test:
	go test ./...

race:
	go test -race ./...

vet:
	go vet ./...
	@unformatted=$$(gofmt -l .); if [ -n "$$unformatted" ]; then echo "not formatted by gofmt:"; echo "$$unformatted"; exit 1; fi

# The CPU kernels' assembly, by the generator in internal/simd/gen.
generate:
	go generate ./internal/simd

# The cards' kernels, op/*.cu, as PTX: by NVIDIA's compiler from PyPI. After a change of a .cu or .cuh file.
ptx:
	bash internal/ptx/ptx.sh

bench:
	go test -run '^$$' -bench . ./internal/simd ./op ./engine ./train

# Ten seconds (AVX-512) to two minutes (AVX2) on two cores: trains on the words in examples and scores voices it has
# not heard. A second time it goes on from where the first one ended; remove runs/smoke to start anew.
smoke: build
	./konkanitrain --config configs/smoke.yaml --resume auto
	./konkanitrain transcribe --checkpoint runs/smoke examples/konkani_words/wav/v11/01.wav examples/konkani_words/wav/v12/02.wav

clean:
	rm -f konkanitrain konkanitrain-gpu
	rm -rf build
