# Everything here is also one plain command; see the recipes.
.PHONY: all build test race vet generate bench smoke clean

all: vet test build

# One static binary: no C compiler, no shared library.
build:
	CGO_ENABLED=0 go build -trimpath -o konkanitrain ./cmd/konkanitrain

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

bench:
	go test -run '^$$' -bench . ./internal/simd ./op ./engine ./train

# About two minutes on two cores: trains on the words in examples and scores voices it has not heard.
smoke: build
	./konkanitrain --config configs/smoke.yaml
	./konkanitrain eval --checkpoint runs/smoke --manifest examples/konkani_words/test.jsonl

clean:
	rm -f konkanitrain
