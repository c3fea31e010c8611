package secequivtest

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/secequiv/secequiv/api/go/serve"
)

// Insn is a struct sock_filter.
type Insn = serve.Insn

// Trials is the number of programs that Optimizer optimizes; the default is 1000.
func Trials(count int) Option { return with("--trials", fmt.Sprint(count)) }

// Seed makes Optimizer generate other programs; the default is 1.
func Seed(seed uint64) Option { return with("--seed", fmt.Sprint(seed)) }

// Programs makes Optimizer start from the programs in these files or folders, and from changed copies of them.
func Programs(paths ...string) Option {
	var arguments []string
	for _, path := range paths {
		arguments = append(arguments, "--programs", path)
	}
	return with(arguments...)
}

// AllowUnproven lets the test pass although no engine could prove some answers. These are only compared on inputs.
func AllowUnproven() Option { return func(q *question) { q.allowUnproven = true } }

// RequestTimeout is how long Optimizer waits for one program to be optimized; the default is 10 seconds.
func RequestTimeout(limit time.Duration) Option {
	return with("--request-timeout", fmt.Sprint(limit.Seconds()))
}

// Save makes Optimizer write the program of a finding to this folder instead of a temporary one.
func Save(folder string) Option { return func(q *question) { q.save = folder } }

// An environment variable that names the call of Optimizer for which a copy of the test binary
// serves requests: the test, and how many calls came before.
const served = "SECEQUIVTEST_SERVE"

var calls = struct {
	sync.Mutex
	of map[testing.TB]int
}{of: map[testing.TB]int{}}

// Optimizer calls `optimize` with many programs. It fails the test if `optimize` changes the decisions of a program, makes one that
// the kernel refuses, loses a call that the kernel caches, panics or does not end. An instruction is an Insn or any structure that
// Equivalent accepts.
//
// secequiv calls `optimize` in copies of the test binary that run this test alone, so the test runs again up to this call.
func Optimizer[I any](t testing.TB, optimize func([]I) []I, options ...Option) {
	t.Helper()
	calls.Lock()
	call := fmt.Sprintf("%s#%d", t.Name(), calls.of[t])
	calls.of[t]++
	calls.Unlock()
	if wanted := os.Getenv(served); wanted == call {
		os.Exit(answer(optimize))
	} else if wanted != "" {
		return
	}
	switch t.(type) {
	case *testing.B, *testing.F:
		t.Fatalf("secequiv: expected a *testing.T, found %T: only tests can serve programs", t)
	}
	if !isInstruction(reflect.TypeOf((*I)(nil)).Elem()) {
		t.Fatalf("secequiv: expected an optimizer of instructions like syscall.SockFilter, found %T", optimize)
	}
	command, err := again(t.Name())
	if err != nil {
		t.Fatalf("secequiv: %v", err)
	}
	q := question{arguments: []string{"fuzz", "--optimizer", "serve:" + command, "--no-scaling", "--stop-at-first"}}
	for _, option := range options {
		option(&q)
	}
	if !q.allowUnproven {
		q.arguments = append(q.arguments, "--require-proof")
	}
	if !slices.Contains(q.arguments, "--trials") {
		q.arguments = append(q.arguments, "--trials", "1000")
	}
	folder := q.save
	if folder == "" {
		if folder, err = os.MkdirTemp("", "secequiv-findings"); err != nil {
			t.Fatalf("secequiv: %v", err)
		}
	}
	found, status, err := run(append(q.arguments, "--json", "--save", folder), served+"="+call)
	if q.save == "" && (err != nil || found.failures() == "") {
		os.RemoveAll(folder) // it stays if the message names a file in it
	}
	switch {
	case err != nil:
		t.Fatalf("secequiv: %v", err)
	case status == 2 || status == 3:
		t.Fatalf("secequiv: %v", found.problem(status))
	case status != 0 || found.Verdict != "pass":
		t.Fatalf("secequiv: %sthe optimizer is wrong", found.failures())
	}
}

// failures returns the text of the findings that fail.
func (r *report) failures() string {
	var out strings.Builder
	for _, finding := range r.Findings {
		if finding.Failure {
			out.WriteString(finding.Text)
		}
	}
	return out.String()
}

// answer serves `optimize` on standard input and descriptor 3, and returns the exit status.
func answer[I any](optimize func([]I) []I) int {
	handlers := serve.Handlers{Optimize: func(program []Insn) ([]Insn, error) {
		given := make([]I, len(program))
		for i, insn := range program {
			fields := reflect.ValueOf(&given[i]).Elem()
			for at, value := range []uint64{uint64(insn.Code), uint64(insn.Jt), uint64(insn.Jf), uint64(insn.K)} {
				fields.Field(at).SetUint(value)
			}
		}
		var optimized []Insn
		for _, insn := range ownTrace(optimize, given) {
			field := reflect.ValueOf(insn).Field
			optimized = append(optimized, Insn{Code: uint16(field(0).Uint()), Jt: uint8(field(1).Uint()), Jf: uint8(field(2).Uint()), K: uint32(field(3).Uint())})
		}
		return optimized, nil
	}}
	if err := serve.Serve(handlers, os.Stdin, os.NewFile(3, "answers")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	return 0
}

// ownTrace calls `optimize`. After a panic, it prints only the calls in `optimize`, because a finding shows few lines.
func ownTrace[I any](optimize func([]I) []I, given []I) []I {
	defer func() {
		problem := recover()
		if problem == nil {
			return
		}
		fmt.Fprintf(os.Stderr, "panic: %v\n", problem)
		callers := make([]uintptr, 1000)
		frames := runtime.CallersFrames(callers[:runtime.Callers(0, callers)])
		panicked, own := false, reflect.TypeOf(question{}).PkgPath()
		for {
			frame, more := frames.Next()
			if panicked && strings.HasPrefix(frame.Function, own+".ownTrace[") || !more {
				os.Exit(2)
			}
			if panicked && !strings.HasPrefix(frame.Function, "runtime.") {
				fmt.Fprintf(os.Stderr, "  %s:%d: %s\n", filepath.Base(frame.File), frame.Line, frame.Function)
			}
			panicked = panicked || frame.Function == "runtime.gopanic"
		}
	}()
	return optimize(given)
}

// again returns a shell command that runs this test binary for one test, with the flags that do not belong to package testing. What the
// test prints goes to standard error, so that it cannot be taken for answers.
func again(test string) (string, error) {
	program, err := os.Executable()
	if err != nil {
		return "", err
	}
	if test == "" {
		return "", errors.New("the test has no name")
	}
	levels := strings.Split(test, "/")
	for i := range levels {
		levels[i] = "^" + regexp.QuoteMeta(levels[i]) + "$"
	}
	words := []string{program, "-test.run=" + strings.Join(levels, "/")}
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			words = append(words, "-"+f.Name+"="+f.Value.String())
		}
	})
	words = append(append(words, "--"), flag.Args()...)
	for i := range words {
		words[i] = "'" + strings.ReplaceAll(words[i], "'", `'\''`) + "'"
	}
	return "exec " + strings.Join(words, " ") + " 3>&1 1>&2", nil
}
