// Package secequivtest asks `secequiv` whether two seccomp filters make the same decision for every possible system call.
//
//	func TestOptimizer(t *testing.T) {
//		secequivtest.Equivalent(t, unoptimized, optimized)
//	}
//
// A filter is a []byte (raw struct sock_filter, little endian, or any other form of the command line's), a string (the same with a
// line break in it, otherwise a path), or a slice of structures of a uint16, two uint8 and a uint32, as
// syscall.SockFilter, unix.SockFilter and bpf.RawInstruction are. The program is $SECEQUIV, or secequiv on PATH; a test fails where
// there is none, and also if time runs out.
package secequivtest

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

// Option is a part of the question; without any it is about all 32 bits of a decision, for all inputs.
type Option func(*question)

type question struct{ arguments []string }

// Behaviour counts as the same what a process cannot tell apart.
func Behaviour() Option { return with("--same", "behaviour") }

// Assume makes only those inputs count for which the expression is true: "arch == x86_64 && nr in {read, write}".
func Assume(expression string) Option { return with("--assume", expression) }

// Timeout is what the proof may take; 60 seconds without it.
func Timeout(limit time.Duration) Option {
	return with("--timeout", fmt.Sprint(limit.Seconds()))
}

// Arch is the host's architecture, for names.
func Arch(name string) Option { return with("--arch", name) }

func with(arguments ...string) Option {
	return func(q *question) { q.arguments = append(q.arguments, arguments...) }
}

// Result is what secequiv answered. Witness is nil unless the filters differ.
type Result struct {
	Verdict  string          `json:"verdict"` // equivalent, pass (refines, but is not the same), different
	Witness  *Witness        `json:"witness"`
	Document json.RawMessage `json:"-"` // schema secequiv.prove/2
}

// Holds reports whether the answer is yes.
func (r *Result) Holds() bool { return r.Verdict == "equivalent" || r.Verdict == "pass" }

// Witness is an input on which the two filters differ.
type Witness struct {
	Data   Data  `json:"data"`
	Before Value `json:"before"`
	After  Value `json:"after"`
}

// Data is struct seccomp_data.
type Data struct {
	Nr      uint32     `json:"nr"`
	Syscall string     `json:"syscall"` // its name, if it has one on that architecture
	Arch    string     `json:"arch"`    // AUDIT_ARCH_*, hexadecimal
	Name    string     `json:"arch_name"`
	IP      string     `json:"ip"`
	Args    [6]string  `json:"args"`
	Words   [16]uint32 `json:"words"` // in the order in which filters load them
}

// Value is what a filter returns.
type Value struct {
	Value  string `json:"value"`
	Action string `json:"action"`
}

func (w *Witness) String() string {
	call, arch := fmt.Sprint("nr=", w.Data.Nr), w.Data.Arch
	if w.Data.Syscall != "" {
		call += " (" + w.Data.Syscall + ")"
	}
	if w.Data.Name != "" {
		arch = w.Data.Name
	}
	return fmt.Sprintf("witness: %s arch=%s ip=%s args=[%s]\n  before: %s %s\n  after:  %s %s", call, arch, w.Data.IP,
		strings.Join(w.Data.Args[:], ", "), w.Before.Value, w.Before.Action, w.After.Value, w.After.Action)
}

// Equivalent fails the test unless the two make the same decision for every possible system call.
func Equivalent(t testing.TB, before, after any, options ...Option) {
	t.Helper()
	require(t, "the filters make different decisions", before, after, options)
}

// Refines fails the test unless `after` is never more permissive than `before`.
func Refines(t testing.TB, before, after any, options ...Option) {
	t.Helper()
	require(t, "'after' is more permissive than 'before'", before, after, append(options[:len(options):len(options)], with("--refines")))
}

func require(t testing.TB, claim string, before, after any, options []Option) {
	t.Helper()
	result, err := Prove(before, after, options...)
	if err != nil {
		t.Fatalf("secequiv: %v", err)
	}
	if !result.Holds() {
		t.Fatalf("secequiv: %s\n%v", claim, result.Witness)
	}
}

// ErrUnknown is what Prove's error is if time or memory ran out.
var ErrUnknown = errors.New("unknown")

// Prove asks about two filters. An error is all that is no answer: bad input, a program that the kernel would refuse, ErrUnknown.
func Prove(before, after any, options ...Option) (*Result, error) {
	folder, err := os.MkdirTemp("", "secequiv")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	q := question{arguments: []string{"prove", "--json"}}
	for _, option := range options {
		option(&q)
	}
	q.arguments = append(q.arguments, "--")
	for name, filter := range []any{before, after} {
		path, err := file(filter, filepath.Join(folder, []string{"before", "after"}[name]))
		if err != nil {
			return nil, err
		}
		q.arguments = append(q.arguments, path)
	}
	return ask(q.arguments)
}

func ask(arguments []string) (*Result, error) {
	program := os.Getenv("SECEQUIV")
	if program == "" {
		program = "secequiv"
	}
	var out, problems bytes.Buffer
	command := exec.Command(program, arguments...)
	command.Stdout, command.Stderr = &out, &problems
	failed := command.Run()
	var exit *exec.ExitError
	if failed != nil && !errors.As(failed, &exit) {
		return nil, fmt.Errorf("cannot be started (set SECEQUIV, or PATH): %w", failed)
	}
	var document struct {
		Result
		File   string `json:"file"`
		Where  string `json:"where"`
		Detail string `json:"detail"`
	}
	if err := json.Unmarshal(out.Bytes(), &document); err != nil {
		return nil, fmt.Errorf("%v, and no report: %s", command.ProcessState, strings.TrimSpace(problems.String()))
	}
	document.Document = out.Bytes()
	// Both have to say so.
	status := command.ProcessState.ExitCode()
	switch {
	case status == 0 && document.Holds(), status == 1 && document.Verdict == "different" && document.Witness != nil:
		return &document.Result, nil
	case status == 3:
		return nil, fmt.Errorf("%w: %s", ErrUnknown, document.Detail)
	default:
		return nil, fmt.Errorf("%s%s: %s", document.File, document.Where, document.Detail)
	}
}

// file returns a path where the command line finds the filter, `fresh` if it is not in a file yet.
func file(filter any, fresh string) (string, error) {
	var content []byte
	switch given := filter.(type) {
	case string:
		if !strings.Contains(given, "\n") {
			return filepath.Abs(given)
		}
		content = []byte(given)
	case []byte:
		content = given
	default:
		var err error
		if content, err = instructions(filter); err != nil {
			return "", err
		}
	}
	return fresh, os.WriteFile(fresh, content, 0o600)
}

// instructions returns what a slice of structures like struct sock_filter stands for, little endian.
func instructions(filter any) ([]byte, error) {
	wanted := []reflect.Kind{reflect.Uint16, reflect.Uint8, reflect.Uint8, reflect.Uint32}
	slice := reflect.ValueOf(filter)
	good := slice.Kind() == reflect.Slice && slice.Type().Elem().Kind() == reflect.Struct &&
		slice.Type().Elem().NumField() == len(wanted)
	for i := 0; good && i < len(wanted); i++ {
		good = slice.Type().Elem().Field(i).Type.Kind() == wanted[i]
	}
	if !good {
		return nil, fmt.Errorf("expected a filter ([]byte, string or a slice like []syscall.SockFilter), found %T", filter)
	}
	var out []byte
	for i := 0; i < slice.Len(); i++ {
		insn := slice.Index(i)
		out = binary.LittleEndian.AppendUint16(out, uint16(insn.Field(0).Uint()))
		out = append(out, byte(insn.Field(1).Uint()), byte(insn.Field(2).Uint()))
		out = binary.LittleEndian.AppendUint32(out, uint32(insn.Field(3).Uint()))
	}
	return out, nil
}
