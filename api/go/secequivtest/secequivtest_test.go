package secequivtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	allowGetpid = "ld [0]\njeq #39, yes\nret #0x50001\nyes: ret #0x7fff0000\n"
	killGetpid  = "ld [0]\njeq #39, yes\nret #0x50001\nyes: ret #0x80000000\n"
)

var allowGetpidInsns = []syscall.SockFilter{{Code: 0x20}, {Code: 0x15, Jf: 1, K: 39}, {Code: 6, K: 0x7fff0000}, {Code: 6, K: 0x50001}}

// recorder is a test that may fail.
type recorder struct {
	testing.TB
	failed string
}

func (r *recorder) Helper() {}
func (r *recorder) Fatalf(format string, arguments ...any) {
	r.failed = fmt.Sprintf(format, arguments...)
	runtime.Goexit()
}

func failure(t *testing.T, test func(testing.TB)) string {
	r := &recorder{TB: t}
	done, returned := make(chan struct{}), false
	go func() {
		defer close(done)
		test(r)
		returned = true
	}()
	<-done
	if !returned && os.Getenv(served) != "" { // this is a copy of the test binary, and Optimizer has ended this test
		t.SkipNow()
	}
	return r.failed
}

func TestEquivalentFiltersPass(t *testing.T) {
	path := filepath.Join(t.TempDir(), "filter")
	if err := os.WriteFile(path, []byte(allowGetpid), 0o600); err != nil {
		t.Fatal(err)
	}
	Equivalent(t, allowGetpid, allowGetpidInsns)
	Equivalent(t, path, []byte(allowGetpid))
	Refines(t, allowGetpid, killGetpid)
	Equivalent(t, allowGetpid, killGetpid, Assume("nr != getpid"), Effect())
	Equivalent(t, allowGetpid, killGetpid, Assume("nr != getpid"), Behaviour(), Arch("x86_64"), Timeout(time.Minute))
}

func TestDifferentFiltersFail(t *testing.T) {
	message := failure(t, func(t testing.TB) { Equivalent(t, allowGetpid, killGetpid) })
	for _, expected := range []string{"secequiv: only stricter: ", "different decisions", "witness: nr=39", "jeq #0x27, L3, L2 -> true", "before: 0x7fff0000 ALLOW", "after:  0x80000000 KILL_PROCESS"} {
		if !strings.Contains(message, expected) {
			t.Errorf("expected %q, found %q", expected, message)
		}
	}
	if message = failure(t, func(t testing.TB) { Refines(t, killGetpid, allowGetpid) }); !strings.HasPrefix(message, "secequiv: LOOSER: ") || !strings.HasSuffix(message, "more permissive than 'before'") {
		t.Errorf("found %q", message)
	}
}

func TestPropertiesOfOneFilter(t *testing.T) {
	property := filepath.Join(t.TempDir(), "mine.property")
	if err := os.WriteFile(property, []byte("# mine\nkilled: getpid\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	x86 := Assume("arch == x86_64 && nr < 1000")
	Has(t, allowGetpid, "no-ptrace")
	Has(t, allowGetpidInsns, "allowed: getpid\nrefused: mount", x86)
	Has(t, killGetpid, property, x86)
	for property, expected := range map[string]string{
		property:          "violated: " + property + ":2: killed: getpid\n",
		"refused: getpid": "violated: refused: getpid\nwitness: nr=39 (getpid)",
	} {
		message := failure(t, func(t testing.TB) { Has(t, allowGetpid, property) })
		if !strings.HasPrefix(message, "secequiv: "+expected) || !strings.HasSuffix(message, "the filter does not have the property") {
			t.Errorf("expected %q, found %q", expected, message)
		}
	}
	message := failure(t, func(t testing.TB) { Has(t, allowGetpid, "refused: getpidd") })
	if !strings.Contains(message, "did you mean getpid") {
		t.Errorf("found %q", message)
	}
}

func TestDifferencesOfPoliciesNameTheirLines(t *testing.T) {
	policy := func(rules string) string {
		return "{\"version\": 1, \"arches\": [\"x86_64\"],\n\"default_action\": \"errno(1)\",\n\"rule_sets\": [{\"action\": \"allow\", \"rules\": {\n" + rules + "}}]}"
	}
	message := failure(t, func(t testing.TB) {
		Equivalent(t, policy("\"write\": true"), policy("\"write\": true,\n\"read\": true"))
	})
	for _, expected := range []string{"secequiv: LOOSER: read newly allowed", "/before:2 (default_action)", "/after:5 (rule_sets[0].rules.read)"} {
		if !strings.Contains(message, expected) {
			t.Errorf("expected %q, found %q", expected, message)
		}
	}
}

func TestInvalidFiltersAndAssumptionsFail(t *testing.T) {
	for expected, filter := range map[string]any{
		":2":                "ld [0]\nnonsense\n",
		"no-such-file":      "no-such-file",
		"after: ":           "ld [0]\n\n",
		"expected a filter": 5,
	} {
		if message := failure(t, func(t testing.TB) { Equivalent(t, allowGetpid, filter) }); !strings.Contains(message, expected) {
			t.Errorf("expected %q, found %q", expected, message)
		}
	}
	_, err := Prove(allowGetpid, killGetpid, Assume("nr =="))
	if err == nil || errors.Is(err, ErrUnknown) {
		t.Errorf("found %v", err)
	}
}

func TestErrorsNameOptionsAsInGo(t *testing.T) {
	same := func(program []Insn) []Insn { return program }
	for expected, test := range map[string]func(testing.TB){
		"secequiv: Assume is not an option of Optimizer":               func(t testing.TB) { Optimizer(t, same, Assume("nr == 1")) },
		"secequiv: Timeout is not an option of Optimizer: use Request": func(t testing.TB) { Optimizer(t, same, Timeout(time.Minute)) },
		"secequiv: Trials: expected a whole number from 1 ":            func(t testing.TB) { Optimizer(t, same, Trials(-1)) },
		"secequiv: Trials is not an option of Equivalent":              func(t testing.TB) { Equivalent(t, allowGetpid, allowGetpid, Trials(5)) },
		"secequiv: AllowUnproven is not an option of Refines":          func(t testing.TB) { Refines(t, allowGetpid, allowGetpid, AllowUnproven()) },
		"secequiv: Save is not an option of Equivalent":                func(t testing.TB) { Equivalent(t, allowGetpid, allowGetpid, Save("found")) },
		"secequiv: Timeout: expected a number of seconds above 0":      func(t testing.TB) { Equivalent(t, allowGetpid, allowGetpid, Timeout(-1)) },
	} {
		if message := failure(t, test); !strings.HasPrefix(message, expected) {
			t.Errorf("expected %q, found %q", expected, message)
		}
	}
	if _, err := Why(allowGetpid, "getpid", Assume("nr == 1")); err == nil || err.Error() != "Assume is not an option of Why" {
		t.Errorf("found %v", err)
	}
}

func TestAnalysesReturnTheirDocuments(t *testing.T) {
	policy := `{"version": 1, "arches": ["x86_64"], "default_action": "errno(1)",
"rule_sets": [{"action": "errno(1)", "rules": {"read": true}}]}`
	for expected, analysis := range map[string]func() (json.RawMessage, error){
		"secequiv.why/1":     func() (json.RawMessage, error) { return Why(allowGetpid, "getpid") },
		"secequiv.actions/1": func() (json.RawMessage, error) { return Actions(allowGetpidInsns, Behaviour()) },
		"secequiv.reach/1":   func() (json.RawMessage, error) { return Reach(allowGetpid) },
		"secequiv.cost/2":    func() (json.RawMessage, error) { return Cost([]any{allowGetpid, killGetpid}) },
		"secequiv.cache/1":   func() (json.RawMessage, error) { return Cache([]any{allowGetpid, killGetpid}) },
		"secequiv.lint/1":    func() (json.RawMessage, error) { return Lint(policy) },
	} {
		document, err := analysis()
		if err != nil || !strings.Contains(string(document), expected) {
			t.Errorf("expected %q, found %v: %s", expected, err, document)
		}
	}
	if _, err := Lint("no-such-file"); err == nil {
		t.Error("expected an error")
	}
}

// The test runs a shell script in place of secequiv.
func TestNothingButAnAnswerPasses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secequiv")
	t.Setenv("SECEQUIV", path)
	for script, unknown := range map[string]bool{
		`echo '{"verdict": "unknown", "detail": "time ran out"}'; exit 3`: true,
		`echo '{"verdict": "equivalent"}'; exit 1`:                        false,
		`echo '{"verdict": "equivalent"}'; exit 3`:                        true,
		`echo '{"verdict": "different"}'; exit 0`:                         false,
		`echo nothing`: false,
		`kill -9 $$`:   false,
		``:             false,
	} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			t.Fatal(err)
		}
		if _, err := Prove(allowGetpid, allowGetpid); err == nil || errors.Is(err, ErrUnknown) != unknown {
			t.Errorf("%s: found %v", script, err)
		}
	}
	t.Setenv("SECEQUIV", path+"-that-is-not-there")
	if message := failure(t, func(t testing.TB) { Equivalent(t, allowGetpid, allowGetpid) }); !strings.Contains(message, "cannot be started") {
		t.Errorf("found %q", message)
	}
}
