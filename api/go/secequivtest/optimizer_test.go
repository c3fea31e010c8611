package secequivtest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

const jset = 0x45

// swapsJset is wrong: it swaps the targets of every jset.
func swapsJset(program []Insn) []Insn {
	for i := range program {
		if program[i].Code == jset {
			program[i].Jt, program[i].Jf = program[i].Jf, program[i].Jt
		}
	}
	return program
}

func TestRightOptimizersPass(t *testing.T) {
	fmt.Println("a test may print")
	Equivalent(t, allowGetpid, allowGetpidInsns)
	Optimizer(t, func(program []Insn) []Insn { return program }, Trials(50))
	t.Run("of other structures/with options", func(t *testing.T) {
		t.Parallel()
		for seed := uint64(1); seed < 3; seed++ {
			Optimizer(t, func(program []syscall.SockFilter) []syscall.SockFilter { return program }, Trials(20), Seed(seed), Behaviour())
		}
	})
}

func TestWrongOptimizersFail(t *testing.T) {
	for expected, optimize := range map[string]func([]Insn) []Insn{
		"different: ": swapsJset,
		"rejected: ":  func(program []Insn) []Insn { return append(program, program[0]) },
		"panic: oops": func(program []Insn) []Insn { panic("oops") },
		"garbage: ":   func(program []Insn) []Insn { return nil },
	} {
		t.Run(strings.Fields(expected)[0], func(t *testing.T) {
			message := failure(t, func(t testing.TB) { Optimizer(t, optimize) })
			if !strings.HasSuffix(message, "\nthe optimizer is wrong") || !strings.Contains(message, expected) {
				t.Errorf("expected %q, found %q", expected, message)
			}
		})
	}
}

const hash = "ld [16]\nmul #0x9e3779b1\ntax\nld [24]\nmul #0x85ebca6b\nxor x\njeq #0x12345678, bad, good\nbad: ret #0x80000000\ngood: ret #0x7fff0000\n"

// Diagrams and derived inputs cannot decide arithmetic with several words, but a pass still needs a proof.
func TestArithmeticIsProven(t *testing.T) {
	path := filepath.Join(t.TempDir(), "hash.asm")
	if err := os.WriteFile(path, []byte(hash), 0o600); err != nil {
		t.Fatal(err)
	}
	allows := func(program []Insn) []Insn {
		for i := range program {
			if program[i].K == 0x80000000 {
				program[i].K = 0x7fff0000
			}
		}
		return program
	}
	same := func(program []Insn) []Insn { return program }
	message := failure(t, func(t testing.TB) {
		Optimizer(t, same, Programs(path), Trials(1))
		Optimizer(t, same, Trials(20), AllowUnproven())
		Optimizer(t, allows, Programs(path), Trials(1))
	})
	if !strings.Contains(message, "different: KILL_PROCESS became ALLOW") {
		t.Errorf("found %q", message)
	}
}

func last(program []Insn) Insn { return program[len(program)+7] }

func TestAPanicShowsOnlyTheCallsInTheOptimizer(t *testing.T) {
	message := failure(t, func(t testing.TB) {
		Optimizer(t, func(program []Insn) []Insn { return append(program, last(program)) })
	})
	lines := regexp.MustCompile(`panic: runtime error: index out of range \[\d+\] with length \d+\n +optimizer_test.go:\d+: \S+\.last\n +optimizer_test.go:\d+: \S+\.func1\S*\n  before, `)
	if !lines.MatchString(message) || strings.Contains(message, "goroutine") {
		t.Errorf("found %q", message)
	}
}

func TestTheProgramOfAFindingIsSaved(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "found")
	message := failure(t, func(t testing.TB) { Optimizer(t, swapsJset, Save(folder)) })
	_, path, _ := strings.Cut(message, "  stored: ")
	path, _, _ = strings.Cut(path, "\n")
	if text, err := os.ReadFile(path); err != nil || filepath.Dir(path) != folder || !strings.Contains(string(text), "jset") {
		t.Errorf("%v: found %q", err, message)
	}
}

// The stored command would run a test binary that `go test` has removed.
func TestAFindingNamesACommandThatRepeatsIt(t *testing.T) {
	folder := t.TempDir()
	message := failure(t, func(t testing.TB) { Optimizer(t, swapsJset, Save(folder)) })
	replay := regexp.MustCompile(`replay: (add the option secequivtest.Programs\("(.+)"\) and run: go test -run '\^TestAFindingNamesACommandThatRepeatsIt\$')\n`)
	said := replay.FindStringSubmatch(message)
	if said == nil {
		t.Fatalf("found %q", message)
	}
	text, err := os.ReadFile(said[2])
	if stored := replay.FindSubmatch(text); err != nil || stored == nil || string(stored[1]) != said[1] {
		t.Errorf("%v: found %q", err, text)
	}
	message = failure(t, func(t testing.TB) { Optimizer(t, swapsJset, Programs(said[2]), Save(folder)) })
	if !strings.Contains(message, "trial 1 (") {
		t.Errorf("found %q", message)
	}
}

func TestOptimizersThatFailTheTestFail(t *testing.T) {
	outer := t
	for how, each := range map[string]struct {
		report   func(*testing.T)
		expected string
	}{
		"error":       {func(t *testing.T) { t.Error("oops") }, "  before, "}, // the finding has a program
		"outer error": {func(*testing.T) { outer.Error("oops") }, "a copy of the test binary failed after its last answer (exit status 1):\n"},
		"late error":  {func(t *testing.T) { t.Cleanup(func() { t.Error("oops") }) }, "(exit status 1)"},
		"fatal error": {func(t *testing.T) { t.Fatal("oops") }, "exited with status 1 without an answer"},
	} {
		t.Run(how, func(t *testing.T) {
			message := failure(t, func(tb testing.TB) {
				Optimizer(tb, func(program []Insn) []Insn {
					each.report(t)
					return program
				}, Trials(20))
			})
			if !strings.Contains(message, each.expected) || !strings.Contains(message, "optimizer_test.go") || !strings.Contains(message, ": oops") {
				t.Errorf("expected %q, found %q", each.expected, message)
			}
		})
	}
}

func TestOnlyTestsRunOptimizers(t *testing.T) {
	for _, other := range []testing.TB{&testing.B{}, &testing.F{}} {
		if kind := fmt.Sprintf("%T", other); !strings.Contains(onlyTests(other), kind+": call Optimizer in a function TestX(t *testing.T)") {
			t.Errorf("%s: found %q", kind, onlyTests(other))
		}
	}
	if message := onlyTests(t); message != "" {
		t.Errorf("found %q", message)
	}
}

func TestEndlessOptimizersFail(t *testing.T) {
	endless := func(program []Insn) []Insn {
		for {
			time.Sleep(time.Hour)
		}
	}
	message := failure(t, func(t testing.TB) { Optimizer(t, endless, RequestTimeout(time.Second/5)) })
	if !strings.Contains(message, "hung: ") {
		t.Errorf("found %q", message)
	}
}

func TestAWrongOptimizerInASecondCallFails(t *testing.T) {
	message := failure(t, func(t testing.TB) {
		Optimizer(t, func(program []Insn) []Insn { return program }, Trials(20))
		Optimizer(t, swapsJset)
	})
	for _, expected := range []string{"different: ", "= KILL_THREAD\n", "secequiv: only stricter: "} { // a trace, the direction
		if !strings.Contains(message, expected) {
			t.Errorf("expected %q, found %q", expected, message)
		}
	}
}

func TestInvalidArgumentsOfOptimizerFail(t *testing.T) {
	for expected, test := range map[string]func(testing.TB){
		"of instructions like": func(t testing.TB) { Optimizer(t, func(program []int) []int { return program }) },
		"no-such-file":         func(t testing.TB) { Optimizer(t, swapsJset, Programs("no-such-file")) },
	} {
		if message := failure(t, test); !strings.Contains(message, expected) {
			t.Errorf("expected %q, found %q", expected, message)
		}
	}
}
