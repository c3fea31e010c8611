package secequivtest

import (
	"bytes"
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
func Trials(count int) Option { return with("Trials", "--trials", fmt.Sprint(count)) }

// Seed makes Optimizer generate other programs; the default is 1.
func Seed(seed uint64) Option { return with("Seed", "--seed", fmt.Sprint(seed)) }

// Programs makes Optimizer start from the programs in these files or folders, and from changed copies of them.
func Programs(paths ...string) Option {
	return func(q *question) {
		for _, path := range paths {
			observe(path)
			q.words("Programs", "--programs", path)
		}
	}
}

// AllowUnproven lets the test pass although no engine could prove some answers. These are only compared on inputs.
func AllowUnproven() Option { return with("AllowUnproven", unproven) }

const unproven = "--require-proof=false"

// RequestTimeout is how long Optimizer waits for one program to be optimized; the default is 10 seconds.
func RequestTimeout(limit time.Duration) Option {
	return with("RequestTimeout", "--request-timeout", fmt.Sprint(limit.Seconds()))
}

// Save makes Optimizer write the program of a finding to this folder instead of a temporary one.
func Save(folder string) Option { return with("Save", "--save", folder) }

// Environment variables of a copy of the test binary: the call of Optimizer for which it serves requests (the test, and how many calls
// came before), and a folder for reports of copies that failed.
const (
	served = "SECEQUIVTEST_SERVE"
	ends   = "SECEQUIVTEST_ENDS"
)

var calls = struct {
	sync.Mutex
	of map[testing.TB]int
}{of: map[testing.TB]int{}}

// Optimizer calls `optimize` with many programs. It fails the test if `optimize` changes the decisions of a program, makes one that
// the kernel refuses, loses a call that the kernel caches, panics or does not end. It also fails if `optimize` fails the test (t.Error), or if the
// race detector finds a data race in it. An instruction is an Insn or any structure that Equivalent accepts.
//
// secequiv calls `optimize` in copies of the test binary that run this test alone, so the test runs again up to this call, and its
// cleanups run in each copy. After its last program, a copy has five seconds to end: later failures do not count.
func Optimizer[I any](t testing.TB, optimize func([]I) []I, options ...Option) {
	t.Helper()
	calls.Lock()
	call := fmt.Sprintf("%s#%d", t.Name(), calls.of[t])
	calls.of[t]++
	calls.Unlock()
	if wanted := os.Getenv(served); wanted == call {
		serveCopy(t, optimize)
	} else if wanted != "" {
		return
	}
	if problem := onlyTests(t); problem != "" {
		t.Fatalf("secequiv: %s", problem)
	}
	if !isInstruction(reflect.TypeOf((*I)(nil)).Elem()) {
		t.Fatalf("secequiv: expected an optimizer of instructions like syscall.SockFilter, found %T", optimize)
	}
	command, err := again(t.Name())
	if err != nil {
		t.Fatalf("secequiv: %v", err)
	}
	reports, err := os.MkdirTemp("", "secequiv-copies")
	if err != nil {
		t.Fatalf("secequiv: %v", err)
	}
	defer os.RemoveAll(reports)
	q := question{arguments: []string{"fuzz", "--json", "--optimizer", "serve:" + command, "--no-scaling", "--stop-at-first"}}
	folder, err := q.complete(options)
	if err != nil {
		t.Fatalf("secequiv: %v", err)
	}
	// A data race ends a copy at once, because secequiv does not wait long for the end of a copy. secequiv would quote only the end of the report.
	races := "GORACE=" + os.Getenv("GORACE") + " halt_on_error=1 atexit_sleep_ms=0 log_path='" + filepath.Join(reports, "race") + "'"
	found, status, err := run(q.arguments, served+"="+call, ends+"="+reports, races)
	failures := ""
	if err == nil {
		failures = found.failures(t.Name())
	}
	if folder != "" && failures == "" {
		os.RemoveAll(folder) // it stays if the message names a file in it
	}
	switch {
	case err != nil:
		t.Fatalf("secequiv: %v", err)
	case status == 2 || status == 3:
		t.Fatalf("secequiv: %v", q.inGo(found.problem(status), "Optimizer"))
	case status != 0 || found.Verdict != "pass":
		t.Fatalf("secequiv: %s%sthe optimizer is wrong", failures, firstRace(reports))
	}
	if problem := failedCopies(reports); problem != "" {
		t.Fatalf("secequiv: %sthe optimizer is wrong", problem)
	}
}

func onlyTests(t testing.TB) string {
	switch t.(type) {
	case *testing.B, *testing.F:
		return fmt.Sprintf("expected a *testing.T, found %T: call Optimizer in a function TestX(t *testing.T). To fuzz for longer than a test, "+
			"write a command with the package secequiv/api/go/serve and run: secequiv fuzz --optimizer serve:./COMMAND --duration 3600", t)
	}
	return ""
}

// complete adds the caller's options, and defaults for those that are missing. It returns the folder for findings if it made one.
func (q *question) complete(options []Option) (string, error) {
	for _, option := range options {
		option(q)
	}
	if q.names["--timeout"] != "" {
		return "", errors.New("Timeout is not an option of Optimizer: use RequestTimeout, which limits the time for one program")
	}
	if !slices.Contains(q.arguments, unproven) {
		q.arguments = append(q.arguments, "--require-proof")
	}
	if q.names["--trials"] == "" {
		q.arguments = append(q.arguments, "--trials", "1000")
	}
	if q.names["--save"] != "" {
		return "", nil
	}
	folder, err := os.MkdirTemp("", "secequiv-findings")
	q.arguments = append(q.arguments, "--save", folder)
	return folder, err
}

// failures returns the text of the findings that fail, and how to repeat each one.
func (r *report) failures(test string) string {
	var out strings.Builder
	for _, finding := range r.Findings {
		if !finding.Failure {
			continue
		}
		out.WriteString(finding.Text)
		if finding.File != "" {
			how := replay(test, finding.File)
			replaceReplay(finding.File, how)
			out.WriteString("  replay: " + how + "\n")
		}
	}
	return out.String()
}

// replay returns how to repeat a finding. The stored command does not work, because `go test` removes the test binary.
func replay(test, file string) string {
	if absolute, err := filepath.Abs(file); err == nil {
		file = absolute
	}
	return fmt.Sprintf("add the option secequivtest.Programs(%q) and run: go test -run '%s'", file, strings.ReplaceAll(only(test), "'", `'\''`))
}

var replayLine = regexp.MustCompile(`(?m)^; replay: .*$`)

func replaceReplay(file, how string) {
	if text, err := os.ReadFile(file); err == nil {
		_ = os.WriteFile(file, replayLine.ReplaceAllLiteral(text, []byte("; replay: "+how)), 0o600) // the message has it, too
	}
}

// failedCopies returns the reports of those copies of the test binary that failed after their last answer.
func failedCopies(reports string) string {
	status, err := os.ReadFile(filepath.Join(reports, "status"))
	if err != nil {
		return ""
	}
	text, _ := os.ReadFile(filepath.Join(reports, "output"))
	const most = 2000 // bytes
	if text = bytes.TrimSpace(text); len(text) > most {
		text = append(text[:bytes.LastIndexByte(text[:most], '\n')+1], "..."...)
	}
	return fmt.Sprintf("a copy of the test binary failed after its last answer (exit status %s):\n%s\n%s",
		strings.Join(strings.Fields(string(status)), ", "), text, firstRace(reports))
}

// firstRace returns the two accesses of a data race in `optimize`, each with the calls in `optimize`.
func firstRace(reports string) string {
	logs, _ := filepath.Glob(filepath.Join(reports, "race.*"))
	if len(logs) == 0 {
		return ""
	}
	text, _ := os.ReadFile(logs[0])
	accesses, _, _ := strings.Cut(string(text), "\nGoroutine ")
	var out strings.Builder
	ours := false
	for _, line := range strings.Split(strings.Trim(accesses, "=\n"), "\n") {
		ours = line != "" && (ours || strings.HasPrefix(strings.TrimSpace(line), ownPackage()+".ownTrace["))
		if !ours {
			out.WriteString(line + "\n")
		}
	}
	return out.String()
}

func ownPackage() string { return reflect.TypeOf(question{}).PkgPath() }

// serveCopy serves `optimize` on standard input and descriptor 3, and then ends the test. It does not return.
func serveCopy[I any](t testing.TB, optimize func([]I) []I) {
	handlers := serve.Handlers{Optimize: func(program []Insn) ([]Insn, error) {
		given := make([]I, len(program))
		for i, insn := range program {
			fields := reflect.ValueOf(&given[i]).Elem()
			for at, value := range []uint64{uint64(insn.Code), uint64(insn.Jt), uint64(insn.Jf), uint64(insn.K)} {
				fields.Field(at).SetUint(value)
			}
		}
		var optimized []Insn
		answer := ownTrace(optimize, given)
		if t.Failed() {
			t.FailNow() // the program gets no answer, so the finding shows this program and the test's messages
		}
		for _, insn := range answer {
			field := reflect.ValueOf(insn).Field
			optimized = append(optimized, Insn{Code: uint16(field(0).Uint()), Jt: uint8(field(1).Uint()), Jf: uint8(field(2).Uint()), K: uint32(field(3).Uint())})
		}
		return optimized, nil
	}}
	err := serve.Serve(handlers, os.Stdin, os.NewFile(3, "answers"))
	// secequiv no longer reads what this process prints.
	if output, failed := os.OpenFile(filepath.Join(os.Getenv(ends), "output"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); failed == nil {
		redirect(output)
	}
	if err != nil {
		t.Fatalf("secequiv: %v", err)
	}
	if t.Failed() {
		t.FailNow()
	}
	t.SkipNow() // the test's cleanups and package testing may still find a failure
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
		panicked, own := false, ownPackage()
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
	words := []string{program, "-test.run=" + only(test)}
	flag.Visit(func(f *flag.Flag) {
		if !strings.HasPrefix(f.Name, "test.") {
			words = append(words, "-"+f.Name+"="+f.Value.String())
		}
	})
	words = append(append(words, "--"), flag.Args()...)
	for i := range words {
		words[i] = "'" + strings.ReplaceAll(words[i], "'", `'\''`) + "'"
	}
	// secequiv ignores the exit status of a command that has answered everything.
	return strings.Join(words, " ") + ` 3>&1 1>&2; status=$?; test $status = 0 || echo $status >> "$` + ends + `/status"; exit $status`, nil
}

// only returns the pattern of `go test -run` for one test.
func only(test string) string {
	levels := strings.Split(test, "/")
	for i := range levels {
		levels[i] = "^" + regexp.QuoteMeta(levels[i]) + "$"
	}
	return strings.Join(levels, "/")
}
