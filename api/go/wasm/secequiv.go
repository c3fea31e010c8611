// Package secequiv decides whether two seccomp filters make the same decision for every possible system call. It runs the analyses of the
// command line inside this process, as WebAssembly: without cgo, without another program, and without access to files.
//
//	answer, err := secequiv.Prove(ctx, secequiv.Bytes(before), secequiv.Bytes(after), nil)
//	if err != nil || !answer.Holds() { ... }
//
// Each call has a memory of its own, so calls from any number of goroutines do not disturb each other. The first call compiles the module.
package secequiv

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Verdict is the answer of an analysis; its text is the word of the command line.
type Verdict uint32

// The verdicts of secequiv.h. Equivalent and Pass mean that the property holds.
const (
	Error      Verdict = iota // bad arguments or input
	Equivalent                // proven for all inputs that satisfy the assumption
	Pass                      // the property holds
	Different                 // an input shows the difference
	Unknown                   // time or memory ran out
	Rejected                  // the kernel would refuse a program
	Fail                      // lint: a redundant rule; cache: a lost call; property: violated
)

func (v Verdict) String() string {
	words := [...]string{"error", "equivalent", "pass", "different", "unknown", "rejected", "fail"}
	if int(v) < len(words) {
		return words[v]
	}
	return fmt.Sprintf("Verdict(%d)", uint32(v))
}

// Same says which return values count as the same.
type Same uint32

// The values of secequiv.h.
const (
	Raw       Same = iota // all 32 bits
	Behaviour             // what a process can observe
	Effect                // what a process can make the kernel do
)

// Options are those of struct secequiv_options in secequiv.h. Nil and zero values select the defaults.
type Options struct {
	Same         Same
	Refines      bool          // prove only that `after` is never more permissive
	AnyLength    bool          // Validate: accept more than 4096 instructions
	Timeout      time.Duration // 0: a minute
	MaxMemoryMiB uint64        // for decision diagrams; 0: 256. The module has 512 MiB in all.
	MaxRegions   uint64        // regions shown in total; 0: 20
	Assume       string        // ignore all other inputs: "nr in {read, write}"
	Arch         string        // the host's architecture; "": x86_64
	// How inputs are read.
	Form         string // raw, raw-be, asm, ddd or c; "": detected
	Kernel       string // the host's kernel version, for OCI profiles; "": 6.1
	Capabilities string // granted to the container, for OCI profiles: "CAP_BPF,CAP_CHOWN"
	Filter       string // name of the filter in a seccompiler file with several
	PolicyFormat string // policy, oci, seccompiler, minijail, minijail-compiler or pfc; "": detected
}

// Data is a struct seccomp_data.
type Data struct {
	Nr                 int32
	Arch               uint32
	InstructionPointer uint64
	Args               [6]uint64
}

// Witness is an input that shows a difference, and what both filters return for it.
type Witness struct {
	Data          Data
	Before, After uint32
}

// Answer is what an analysis found.
type Answer struct {
	Verdict Verdict
	Message string          // the command line's text for people
	Notes   string          // what reading a policy left out, and what a proof does not cover
	JSON    json.RawMessage // the document of the command of the same name
	Witness *Witness        // nil unless an input shows a difference
	Value   uint32          // Evaluate: the return value
	Program []byte          // Parse and Optimize: instructions, 8 bytes each, little endian
}

// Holds reports whether the property holds.
func (a *Answer) Holds() bool { return a.Verdict == Equivalent || a.Verdict == Pass }

// InputError says what is wrong with an argument, a program or a policy.
type InputError struct {
	Message string
	JSON    json.RawMessage
}

func (e *InputError) Error() string { return strings.TrimRight(e.Message, "\n") }

// ErrMemory means that the module's memory ran out.
var ErrMemory = errors.New("secequiv: memory ran out")

// ErrTrap means that the module trapped for another reason: a bug in it or in wazero. The error's text names the function and the trap.
var ErrTrap = errors.New("secequiv: the module trapped")

// Bytes returns the bytes of a program that is a slice of structures like unix.SockFilter, syscall.SockFilter or bpf.RawInstruction.
// It panics if an element has not 8 bytes.
func Bytes[T any](program []T) []byte {
	var out bytes.Buffer
	if err := binary.Write(&out, binary.LittleEndian, program); err != nil || out.Len() != 8*len(program) {
		panic(fmt.Sprintf("secequiv: a %T is not a program: expected 8 bytes in each element", program))
	}
	return out.Bytes()
}

// Prove decides whether the two filters are equivalent for all inputs or, with Refines, whether `after` is never more permissive. Like all
// inputs here, a filter is a program in any form that the command line reads, or a policy, which is compiled without optimization.
func Prove(ctx context.Context, before, after []byte, options *Options) (*Answer, error) {
	return ask(ctx, options, inputs(before, after), func(c *call) { c.answer("secequiv_prove_parsed", c.read[0], c.read[1], c.options) })
}

// ProveProperty decides whether the filter has a property: a name of the library, such as "no-ptrace", or clauses, such as
// "refused: ptrace".
func ProveProperty(ctx context.Context, filter []byte, property string, options *Options) (*Answer, error) {
	return ask(ctx, options, inputs(filter), func(c *call) { c.answer("secequiv_prove_property_parsed", c.read[0], c.text(property), c.options) })
}

// Diff finds every difference between the two.
func Diff(ctx context.Context, before, after []byte, options *Options) (*Answer, error) {
	return ask(ctx, options, inputs(before, after), func(c *call) { c.answer("secequiv_diff_parsed", c.read[0], c.read[1], c.options) })
}

// Why finds out why the filter decides as it does about an input.
func Why(ctx context.Context, filter []byte, data Data, options *Options) (*Answer, error) {
	return ask(ctx, options, inputs(filter), func(c *call) { c.answer("secequiv_why_parsed", c.read[0], c.data(data), dataBytes, c.options) })
}

// Evaluate runs the filter on an input.
func Evaluate(ctx context.Context, filter []byte, data Data, options *Options) (*Answer, error) {
	return ask(ctx, options, inputs(filter), func(c *call) {
		program, length := c.program(c.read[0])
		c.answer("secequiv_evaluate", program, length, c.data(data), dataBytes, c.options)
	})
}

// Validate checks whether the kernel would accept the program: Pass or Rejected.
func Validate(ctx context.Context, filter []byte, options *Options) (*Answer, error) {
	return ask(ctx, options, inputs(filter), func(c *call) {
		program, length := c.program(c.read[0])
		c.answer("secequiv_validate", program, length, c.options)
	})
}

// Actions finds the action of each system call.
func Actions(ctx context.Context, filter []byte, options *Options) (*Answer, error) {
	return ask(ctx, options, inputs(filter), func(c *call) {
		program, length := c.program(c.read[0])
		c.answer("secequiv_actions", program, length, c.options)
	})
}

// Cost computes how many instructions one or two filters (`after` may be nil) execute for each system call. `profile` states how often
// each call is made: the output of strace -c, lines "name calls", or JSON; "" counts each call of Options.Arch once.
func Cost(ctx context.Context, before, after []byte, profile string, options *Options) (*Answer, error) {
	return ask(ctx, options, inputs(before, after), func(c *call) {
		one, oneLength, other, otherLength := c.programs()
		c.answer("secequiv_cost", one, oneLength, other, otherLength, c.text(profile), c.options)
	})
}

// Cache finds the calls that the kernel answers from its cache, and those that `after` (may be nil) loses.
func Cache(ctx context.Context, before, after []byte, options *Options) (*Answer, error) {
	return ask(ctx, options, inputs(before, after), func(c *call) {
		one, oneLength, other, otherLength := c.programs()
		c.answer("secequiv_cache", one, oneLength, other, otherLength, c.options)
	})
}

// Parse reads a program or a policy. Answer.Program has the instructions.
func Parse(ctx context.Context, filter []byte, options *Options) (*Answer, error) {
	return ask(ctx, options, inputs(filter), func(c *call) { c.keep(c.read[0]) })
}

// Optimize optimizes the filter, and proves that the result makes the same decisions. Answer.Program has the optimized program.
func Optimize(ctx context.Context, filter []byte, options *Options) (*Answer, error) {
	return ask(ctx, options, inputs(filter), func(c *call) { c.answer("secequiv_optimize", c.read[0], c.options) })
}

// Lift turns the filter back into a policy, Answer.Message, in a form: "policy" or "", "normal-form", "oci" or "text".
func Lift(ctx context.Context, filter []byte, form string, options *Options) (*Answer, error) {
	return ask(ctx, options, inputs(filter), func(c *call) { c.answer("secequiv_lift", c.read[0], c.text(form), c.options) })
}

// Disassemble writes the program, Answer.Message, in a form: "asm" or "", "ddd" or "c".
func Disassemble(ctx context.Context, filter []byte, form string, options *Options) (*Answer, error) {
	return ask(ctx, options, inputs(filter), func(c *call) { c.answer("secequiv_disassemble", c.read[0], c.text(form), c.options) })
}

// Lint finds redundant rules of a policy and, with `strict`, doubtful ones.
func Lint(ctx context.Context, policy []byte, strict bool, options *Options) (*Answer, error) {
	return ask(ctx, options, nil, func(c *call) {
		flag := uint64(0)
		if strict {
			flag = 1
		}
		c.answer("secequiv_lint", c.bytes(policy), uint64(len(policy)), c.text("<policy>"), flag, c.options)
	})
}
