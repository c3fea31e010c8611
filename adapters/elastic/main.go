// Command elastic puts the compiler of policies in github.com/elastic/go-seccomp-bpf under test.
//
// It serves requests as harness/adapter/PROTOCOL.md describes. A panic ends the process and prints its trace on standard error.
package main

import (
	"github.com/secequiv/secequiv/api/go/normalform"
	"github.com/secequiv/secequiv/api/go/serve"
	"golang.org/x/net/bpf"
)

func main() {
	serve.Command(serve.Handlers{Compile: compile})
}

func compile(text []byte) ([]serve.Insn, error) {
	read, err := normalform.Read(text)
	if err != nil {
		return nil, err
	}
	policy, err := express(read)
	if err != nil {
		return nil, err
	}
	insns, err := policy.Assemble()
	if err != nil {
		return nil, serve.Unsupported("Policy.Assemble: %v", err)
	}
	raw, err := bpf.Assemble(insns)
	if err != nil {
		return nil, err
	}
	program := make([]serve.Insn, 0, len(raw))
	for _, insn := range raw {
		program = append(program, serve.Insn{Code: insn.Op, Jt: insn.Jt, Jf: insn.Jf, K: insn.K})
	}
	return program, nil
}
