package secequiv

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
)

type instruction struct {
	Code   uint16
	Jt, Jf uint8
	K      uint32
}

var (
	background = context.Background()
	allow      = []instruction{{0x06, 0, 0, 0x7fff0000}}
	refuse     = []instruction{{0x06, 0, 0, 0x50001}}
)

func corpus(t testing.TB, name string) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("../../../corpus/programs/gvisor", name))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func answered(t *testing.T, answer *Answer, err error) *Answer {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

func TestADifferenceHasAWitness(t *testing.T) {
	answer, err := Prove(background, Bytes(allow), []byte("ld [0]\njeq #39, n, y\ny: ret #0x7fff0000\nn: ret #0x50001\n"), nil)
	if got := answered(t, answer, err); got.Verdict != Different || got.Holds() || got.Witness == nil {
		t.Fatalf("%+v", got)
	}
	if got := answer.Witness; got.Data.Nr != 39 || got.Before != 0x7fff0000 || got.After != 0x50001 {
		t.Fatalf("%+v", got)
	}
	again, err := Evaluate(background, Bytes(allow), answer.Witness.Data, nil)
	if got := answered(t, again, err); got.Value != 0x7fff0000 {
		t.Fatalf("%+v", got)
	}
}

func TestOptionsReachTheModule(t *testing.T) {
	stricter := Bytes(refuse)
	for _, each := range []struct {
		options Options
		want    Verdict
	}{
		{Options{}, Different},
		{Options{Refines: true}, Pass},
		{Options{Assume: "nr in {getpid}"}, Different},
		{Options{Same: Behaviour}, Different},
	} {
		if answer, err := Prove(background, Bytes(allow), stricter, &each.options); answered(t, answer, err).Verdict != each.want {
			t.Errorf("%+v: %v", each.options, answer.Verdict)
		}
	}
	onlyGetpid := []byte("ld [0]\njeq #39, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n")
	if answer, err := Prove(background, Bytes(allow), onlyGetpid, &Options{Assume: "nr in {getpid}"}); answered(t, answer, err).Verdict != Equivalent {
		t.Errorf("%+v", answer)
	}
	if _, err := Prove(background, Bytes(allow), stricter, &Options{Assume: "nonsense"}); err == nil || !strings.Contains(err.Error(), "nonsense") {
		t.Errorf("%v", err)
	}
	if _, err := Prove(background, Bytes(allow), []byte("ret #0"), &Options{Form: "raw"}); err == nil {
		t.Error("text was read as raw bytes")
	}
}

func TestBadInputIsAnError(t *testing.T) {
	for _, filter := range [][]byte{{}, []byte("nonsense"), []byte("ld [0]\nbroken here\n"), {1, 2, 3}, nil} {
		var wrong *InputError
		if _, err := Prove(background, Bytes(allow), filter, nil); !errors.As(err, &wrong) || wrong.Error() == "" {
			t.Errorf("%q: %v", filter, err)
		}
	}
	endless := []instruction{{0x05, 0, 0, 7}}
	if answer, err := Validate(background, Bytes(endless), nil); answered(t, answer, err).Verdict != Rejected {
		t.Errorf("%+v", answer)
	}
}

func TestEachFunctionAnswers(t *testing.T) {
	before, after := corpus(t, "kvm.before.bpf"), corpus(t, "kvm.after.bpf")
	data := Data{Nr: 39, Arch: 0xc000003e}
	for name, ask := range map[string]func() (*Answer, error){
		"diff":     func() (*Answer, error) { return Diff(background, before, Bytes(allow), nil) },
		"property": func() (*Answer, error) { return ProveProperty(background, after, "refused: ptrace", nil) },
		"why":      func() (*Answer, error) { return Why(background, after, data, nil) },
		"actions":  func() (*Answer, error) { return Actions(background, after, nil) },
		"cost":     func() (*Answer, error) { return Cost(background, before, after, "", nil) },
		"cost one": func() (*Answer, error) { return Cost(background, before, nil, "read 5\n", nil) },
		"cache":    func() (*Answer, error) { return Cache(background, before, after, nil) },
		"lint": func() (*Answer, error) {
			return Lint(background, []byte("read: 1\nwrite: arg0 == 1 || arg0 == 1\n"), false, &Options{PolicyFormat: "minijail"})
		},
	} {
		answer, err := ask()
		if answered(t, answer, err).Message == "" || !json.Valid(answer.JSON) {
			t.Errorf("%s: %+v", name, answer)
		}
	}
}

func TestProgramsAreTransformed(t *testing.T) {
	before := corpus(t, "kvm.before.bpf")
	optimized, err := Optimize(background, before, nil)
	if got := answered(t, optimized, err); !got.Holds() || len(got.Program) == 0 || len(got.Program) >= len(before) {
		t.Fatalf("%v: %d of %d bytes", got.Verdict, len(got.Program), len(before))
	}
	lifted, err := Lift(background, before, "", nil)
	answered(t, lifted, err)
	text, err := Disassemble(background, before, "", nil)
	answered(t, text, err)
	for name, other := range map[string][]byte{"optimized": optimized.Program, "lifted": []byte(lifted.Message), "disassembled": []byte(text.Message)} {
		answer, err := Prove(background, before, other, nil)
		if answered(t, answer, err).Verdict != Equivalent {
			t.Errorf("%s: %s", name, answer.Message)
		}
	}
}

// The command line answers the same question; times and names of files may differ.
func native(t *testing.T, before, after string) map[string]any {
	t.Helper()
	command := os.Getenv("SECEQUIV")
	if command == "" {
		t.Skip("SECEQUIV does not name the command line")
	}
	text, err := exec.Command(command, "prove", "--json", before, after).Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestVerdictsAndWitnessesAreThoseOfTheCommandLine(t *testing.T) {
	files, _ := filepath.Glob("../../../corpus/programs/*/*.bpf")
	if len(files) < 20 {
		t.Fatalf("only %d programs", len(files))
	}
	different := 0
	for i, before := range files {
		for _, after := range []string{files[(i+1)%len(files)], strings.Replace(before, ".before.", ".after.", 1)} {
			one, _ := os.ReadFile(before)
			other, _ := os.ReadFile(after)
			answer, err := Prove(background, one, other, nil)
			var got map[string]any
			if err := json.Unmarshal(answered(t, answer, err).JSON, &got); err != nil {
				t.Fatal(err)
			}
			want := native(t, before, after)
			for _, key := range []string{"verdict", "same", "direction", "witness"} {
				if !reflect.DeepEqual(got[key], want[key]) {
					t.Errorf("%s, %s: %s: %v, but the command line has %v", before, after, key, got[key], want[key])
				}
			}
			if answer.Verdict == Different {
				different++
			}
		}
	}
	if different == 0 {
		t.Error("no pair differs")
	}
}

func TestCallsDoNotDisturbEachOther(t *testing.T) {
	before, after := corpus(t, "kvm.before.bpf"), corpus(t, "kvm.after.bpf")
	var group sync.WaitGroup
	for i := 0; i < 8; i++ {
		group.Add(1)
		go func(same bool) {
			defer group.Done()
			want, other := Equivalent, after
			if !same {
				want, other = Different, Bytes(refuse)
			}
			if answer, err := Prove(background, before, other, nil); err != nil || answer.Verdict != want {
				t.Errorf("%v, %v", answer, err)
			}
		}(i%2 == 0)
	}
	group.Wait()
}

func TestACancelledCallIsAnError(t *testing.T) {
	cancelled, cancel := context.WithCancel(background)
	cancel()
	if answer, err := Prove(cancelled, corpus(t, "kvm.before.bpf"), corpus(t, "kvm.after.bpf"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v, %v", answer, err)
	}
}

// An instance that has no memory left but for arguments.
func filled(c *call) {
	kept := c.call("malloc", 4096)
	for _, size := range []uint64{1 << 26, 1 << 20, 1 << 10, 1} {
		for c.call("malloc", size) != 0 {
		}
	}
	c.call("free", kept)
}

func TestATrapIsNoLackOfMemory(t *testing.T) {
	filter := inputs(Bytes(allow), Bytes(refuse))
	for name, each := range map[string]struct {
		question    func(*call)
		want, other error
		text        string
	}{
		"argument": {func(c *call) { c.allocate(1 << 30) }, ErrMemory, ErrTrap, ""},
		"proof": {func(c *call) {
			filled(c)
			c.answer("secequiv_prove_parsed", c.read[0], c.read[1], c.options)
		}, ErrMemory, ErrTrap, "secequiv_prove_parsed"},
		"bad handle": {func(c *call) { c.answer("secequiv_prove_parsed", 0x7fffffff, c.read[1], c.options) }, ErrTrap, ErrMemory, "secequiv_prove_parsed: wasm error: out of bounds memory access"},
	} {
		_, err := ask(background, nil, filter, each.question)
		if !errors.Is(err, each.want) || errors.Is(err, each.other) || !strings.Contains(err.Error(), each.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBytesRefusesOtherElements(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("4-byte elements were taken")
		}
	}()
	Bytes([]uint32{1, 2})
}

func BenchmarkProve(b *testing.B) {
	before, after := corpus(b, "kvm-everything.before.bpf"), corpus(b, "kvm-everything.after.bpf")
	if _, err := Version(background); err != nil { // compiles the module
		b.Fatal(err)
	}
	b.ResetTimer()
	for i := 0; i < b.N; i++ {
		if answer, err := Prove(background, before, after, nil); err != nil || answer.Verdict != Equivalent {
			b.Fatal(answer, err)
		}
	}
}
