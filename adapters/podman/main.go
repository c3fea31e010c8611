// Command podman puts the translation of seccomp profiles in github.com/containers/common under test, which Podman and CRI-O use.
//
// It serves requests as harness/adapter/PROTOCOL.md describes.
package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"

	"github.com/containers/common/pkg/seccomp"
	"github.com/secequiv/secequiv/api/go/normalform"
	"github.com/secequiv/secequiv/api/go/serve"
	"secequiv/adapters/oci"
)

func main() {
	serve.Command(serve.Handlers{Compile: compile})
}

func compile(text []byte) ([]serve.Insn, error) {
	read, err := normalform.Read(text)
	if err != nil {
		return nil, err
	}
	profile, err := oci.Express(read)
	if err != nil {
		return nil, err
	}
	filter, err := seccomp.BuildFilter(profile)
	if err != nil {
		return nil, serve.Unsupported("BuildFilter: %v", err)
	}
	defer filter.Release()
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	done := make(chan error, 1)
	go func() {
		defer out.Close()
		done <- filter.ExportBPF(out)
	}()
	raw, err := io.ReadAll(in)
	if err != nil {
		return nil, err
	}
	if err := <-done; err != nil {
		return nil, err
	}
	program := make([]serve.Insn, len(raw)/8)
	return program, binary.Read(bytes.NewReader(raw), binary.NativeEndian, program)
}
