// Package secequivtest runs `secequiv` to decide whether two seccomp filters make the same decision for every possible system
// call.
//
//	func TestOnePair(t *testing.T) {
//		secequivtest.Equivalent(t, unoptimized, optimized)
//	}
//
//	func TestTheOptimizer(t *testing.T) {
//		secequivtest.Optimizer(t, optimize) // a func([]Insn) []Insn
//	}
//
// A filter is a []byte (raw struct sock_filter, little endian, or any other form that the command line reads), a string (text if it
// contains a line break, otherwise a path), or a slice of structures of a uint16, two uint8 and a uint32, such as
// syscall.SockFilter, unix.SockFilter and bpf.RawInstruction. The command is $SECEQUIV, or secequiv on PATH. A test fails if there
// is no such command, and also if time runs out. After a change of a filter's file or of the command, `go test` runs the test again instead of
// answering "(cached)", even if the file is outside the module.
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
	"slices"
	"strings"
	"testing"
	"time"
)

// Option changes what is compared. Without options, all 32 bits of a decision are compared for all inputs.
type Option func(*question)

type question struct {
	arguments []string
	names     map[string]string // names of the options, by the words of the command line
}

// words adds arguments of the command line that stand for the option `name`.
func (q *question) words(name string, arguments ...string) {
	if q.names == nil {
		q.names = map[string]string{}
	}
	for _, each := range arguments {
		if strings.HasPrefix(each, "--") {
			word, _, _ := strings.Cut(each, "=")
			q.names[word] = name
		}
	}
	q.arguments = append(q.arguments, arguments...)
}

// inGo returns an error of the command line with the names that options and functions have in this package.
func (q *question) inGo(err error, function string) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for word, name := range q.names {
		text = strings.ReplaceAll(text, "'"+word+"' is not an option of "+q.arguments[0], name+" is not an option of "+function)
		text = strings.ReplaceAll(text, word+": ", name+": ")
	}
	if text == err.Error() {
		return err // it may be ErrUnknown
	}
	return errors.New(strings.TrimPrefix(text, "command line: "))
}

// Behaviour treats decisions as the same if a process cannot observe a difference.
func Behaviour() Option { return with("Behaviour", "--same", "behaviour") }

// Effect treats inputs that differ only in bits that the kernel ignores as one, and compares the most permissive decision for each.
func Effect() Option { return with("Effect", "--same", "effect") }

// Assume restricts the inputs to those that satisfy the expression: "arch == x86_64 && nr in {read, write}".
func Assume(expression string) Option { return with("Assume", "--assume", expression) }

// Timeout limits the time of the proof; the default is 60 seconds.
func Timeout(limit time.Duration) Option {
	return with("Timeout", "--timeout", fmt.Sprint(limit.Seconds()))
}

// Arch is the host's architecture, for names.
func Arch(name string) Option { return with("Arch", "--arch", name) }

func with(name string, arguments ...string) Option {
	return func(q *question) { q.words(name, arguments...) }
}

// Result is the answer of secequiv. Witness is nil unless the filters differ.
type Result struct {
	Verdict  string          `json:"verdict"` // equivalent, pass (refines, but is not equivalent), different
	Witness  *Witness        `json:"witness"`
	Document json.RawMessage `json:"-"` // schema secequiv.prove/2
}

// Holds reports whether the claim was proven.
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

// Equivalent fails the test unless both filters make the same decision for every possible system call.
func Equivalent(t testing.TB, before, after any, options ...Option) {
	t.Helper()
	require(t, "Equivalent", "the filters make different decisions", []any{before, after}, options)
}

// Refines fails the test unless `after` is never more permissive than `before`.
func Refines(t testing.TB, before, after any, options ...Option) {
	t.Helper()
	require(t, "Refines", "'after' is more permissive than 'before'", []any{before, after}, append(options[:len(options):len(options)], with("Refines", "--refines")))
}

// Has fails the test unless the filter has the property: a name such as "no-ptrace", a path, or clauses such as "refused: ptrace".
func Has(t testing.TB, filter any, property string, options ...Option) {
	t.Helper()
	if _, err := os.Stat(property); err == nil {
		observe(property)
	}
	require(t, "Has", "the filter does not have the property", []any{filter}, append(options[:len(options):len(options)], with("the property", "--property", property)))
}

func require(t testing.TB, function, claim string, filters []any, options []Option) {
	t.Helper()
	if os.Getenv(served) != "" {
		return // this is a copy of the test binary; only its call of Optimizer matters
	}
	q, remove, err := newQuestion("prove", filters, options)
	if err != nil {
		t.Fatalf("secequiv: %v", err)
	}
	defer remove()
	result, err := ask(q.arguments)
	if err != nil {
		t.Fatalf("secequiv: %v", q.inGo(err, function))
	}
	if result.Holds() {
		return
	}
	text, problems, status, err := start(slices.DeleteFunc(q.arguments, func(each string) bool { return each == "--json" }))
	if err != nil || status != 1 {
		t.Fatalf("secequiv: %s\nthe explanation failed: %v %s", claim, err, problems)
	}
	t.Fatalf("secequiv: %s%s", text, claim) // the first line states whether anything became more permissive
}

// ErrUnknown means that time or memory ran out.
var ErrUnknown = errors.New("unknown")

// Prove decides whether two filters are equivalent. Bad input and programs that the kernel would refuse are errors; see also ErrUnknown.
func Prove(before, after any, options ...Option) (*Result, error) {
	q, remove, err := newQuestion("prove", []any{before, after}, options)
	if err != nil {
		return nil, err
	}
	defer remove()
	result, err := ask(q.arguments)
	return result, q.inGo(err, "Prove")
}

func ask(arguments []string) (*Result, error) {
	found, status, err := run(arguments)
	if err != nil {
		return nil, err
	}
	// The verdict and the exit status must agree.
	if status == 0 && found.Holds() || status == 1 && (found.Verdict == "different" && found.Witness != nil || found.Verdict == "fail" && len(found.Clauses) != 0) {
		return &found.Result, nil
	}
	return nil, found.problem(status)
}

// report is the JSON document of any command, or of an error.
type report struct {
	Result
	Schema   string `json:"schema"`
	File     string `json:"file"`
	Where    string `json:"where"`
	Detail   string `json:"detail"`
	Reason   string `json:"reason"` // of fuzz
	Clauses  []any  `json:"clauses"` // of a property
	Findings []struct {
		Failure bool   `json:"failure"`
		Text    string `json:"text"`
		File    string `json:"file"`
	} `json:"findings"` // of fuzz
}

func (r *report) problem(status int) error {
	if status == 3 {
		return fmt.Errorf("%w: %s", ErrUnknown, r.Detail+r.Reason)
	}
	return fmt.Errorf("%s%s: %s", r.File, r.Where, r.Detail)
}

// run starts secequiv and returns its report and its exit status.
func run(arguments []string, environment ...string) (*report, int, error) {
	out, problems, status, err := start(arguments, environment...)
	if err != nil {
		return nil, 0, err
	}
	var found report
	if err := json.Unmarshal([]byte(out), &found); err != nil {
		return nil, 0, fmt.Errorf("exit status %d, and no report: %s", status, problems)
	}
	found.Document = json.RawMessage(out)
	return &found, status, nil
}

// start runs secequiv and returns both of its outputs and its exit status (-1 after a signal).
func start(arguments []string, environment ...string) (out, problems string, status int, err error) {
	program := os.Getenv("SECEQUIV")
	if program == "" {
		program = "secequiv"
	}
	if found, err := exec.LookPath(program); err == nil {
		observeWith(found, 0)
	}
	var output, errorOutput bytes.Buffer
	command := exec.Command(program, arguments...)
	command.Env = append(os.Environ(), environment...)
	command.Stdout, command.Stderr = &output, &errorOutput
	failed := runUntilWeEnd(command)
	var exit *exec.ExitError
	if failed != nil && !errors.As(failed, &exit) {
		return "", "", 0, fmt.Errorf("cannot be started (set SECEQUIV, or PATH): %w", failed)
	}
	return output.String(), strings.TrimSpace(errorOutput.String()), command.ProcessState.ExitCode(), nil
}

// Why returns the JSON document of `secequiv why`, which explains the decision about one system call. `call` is its name or number.
func Why(filter any, call string, options ...Option) (json.RawMessage, error) {
	return analyze("why", []any{filter}, append(options[:len(options):len(options)], with("call", "--nr", call)))
}

// Actions returns the document of `secequiv actions`: the action of each system call, or that it depends on arguments.
func Actions(filter any, options ...Option) (json.RawMessage, error) {
	return analyze("actions", []any{filter}, options)
}

// Reach returns the document of `secequiv reach`: the inputs that reach each instruction.
func Reach(filter any, options ...Option) (json.RawMessage, error) {
	return analyze("reach", []any{filter}, options)
}

// Cost returns the document of `secequiv cost`: the instructions that one filter, or two, execute for each system call.
func Cost(filters []any, options ...Option) (json.RawMessage, error) {
	return analyze("cost", filters, options)
}

// Cache returns the document of `secequiv cache`: the calls that the kernel answers from its cache, and those that the second filter loses.
// Its verdict is "fail" if the second filter loses any.
func Cache(filters []any, options ...Option) (json.RawMessage, error) {
	return analyze("cache", filters, options)
}

// Lint returns the document of `secequiv lint`: redundant rules of a policy. Its verdict is "fail" if there are any.
func Lint(policy any, options ...Option) (json.RawMessage, error) {
	return analyze("lint", []any{policy}, options)
}

// analyze runs a command whose exit status is 0, or 1 with the verdict "fail".
func analyze(command string, filters []any, options []Option) (json.RawMessage, error) {
	q, remove, err := newQuestion(command, filters, options)
	if err != nil {
		return nil, err
	}
	defer remove()
	found, status, err := run(q.arguments)
	if err != nil {
		return nil, err
	}
	expected := strings.HasPrefix(found.Schema, "secequiv."+command+"/")
	if expected && (status == 0 && found.Verdict != "fail" || status == 1 && found.Verdict == "fail") {
		return found.Document, nil
	}
	return nil, q.inGo(found.problem(status), strings.ToUpper(command[:1])+command[1:])
}

// newQuestion returns a question with each filter in a file, and a function that removes those files.
func newQuestion(command string, filters []any, options []Option) (*question, func(), error) {
	if len(filters) == 0 || len(filters) > 2 {
		return nil, nil, fmt.Errorf("expected one filter or two, found %d", len(filters))
	}
	folder, err := os.MkdirTemp("", "secequiv")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { os.RemoveAll(folder) }
	q := question{arguments: []string{command, "--json"}}
	for _, option := range options {
		option(&q)
	}
	q.arguments = append(q.arguments, "--")
	for i, filter := range filters {
		path, err := file(filter, filepath.Join(folder, []string{"before", "after"}[i]))
		if err != nil {
			remove()
			return nil, nil, err
		}
		q.arguments = append(q.arguments, path)
	}
	return &q, remove, nil
}

// file returns a path of the filter for the command line; `created` is the path to use if the filter is not in a file yet.
func file(filter any, created string) (string, error) {
	var content []byte
	switch given := filter.(type) {
	case string:
		if !strings.Contains(given, "\n") {
			observe(given)
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
	return created, os.WriteFile(created, content, 0o600)
}

// instructions returns a slice of structures like struct sock_filter as raw bytes, little endian.
func instructions(filter any) ([]byte, error) {
	slice := reflect.ValueOf(filter)
	if slice.Kind() != reflect.Slice || !isInstruction(slice.Type().Elem()) {
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

func isInstruction(t reflect.Type) bool {
	wanted := []reflect.Kind{reflect.Uint16, reflect.Uint8, reflect.Uint8, reflect.Uint32}
	if t.Kind() != reflect.Struct || t.NumField() != len(wanted) {
		return false
	}
	for i, kind := range wanted {
		if t.Field(i).Type.Kind() != kind {
			return false
		}
	}
	return true
}
