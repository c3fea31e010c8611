package main

// Defines the Sentry's configurations, and how each becomes a program. This file fixes everything
// that would otherwise differ from run to run: the process id, the thread priority and the default
// action. It must not know the policy format.

import (
	"fmt"
	"os"
	"reflect"
	"slices"

	"golang.org/x/sys/unix"
	"gvisor.dev/gvisor/pkg/bpf"
	"gvisor.dev/gvisor/pkg/seccomp"
	"gvisor.dev/gvisor/pkg/seccomp/precompiledseccomp"
	"gvisor.dev/gvisor/pkg/sentry/devices/nvproxy/nvconf"
	"gvisor.dev/gvisor/pkg/sentry/platform"
	"gvisor.dev/gvisor/pkg/sentry/platform/kvm"
	"gvisor.dev/gvisor/pkg/sentry/platform/systrap"
	"gvisor.dev/gvisor/runsc/boot/filter/config"
)

// configuration is one way to run the Sentry.
type configuration struct {
	name        string
	description string
	// platform returns rules that no other code shares. gVisor's optimizer rewrites rules in place,
	// and the KVM platform returns its rules without copying them.
	platform func() platform.SeccompInfo
	set      func(*config.Options)
}

func newSystrap() platform.SeccompInfo { return (*systrap.Systrap)(nil).SeccompInfo() }
func newKVM() platform.SeccompInfo     { return (*kvm.KVM)(nil).SeccompInfo() }

var configurations = slices.Concat(
	configurationsOf("systrap", newSystrap),
	configurationsOf("kvm", newKVM),
)

func configurationsOf(name string, newPlatform func() platform.SeccompInfo) []configuration {
	return []configuration{
		{name, "platform " + name, newPlatform, func(*config.Options) {}},
		{name + "-hostnet", "platform " + name + " with host networking", newPlatform, func(o *config.Options) {
			o.HostNetwork = true
		}},
		{name + "-nvproxy", "platform " + name + " with nvproxy, all supported driver capabilities", newPlatform,
			func(o *config.Options) {
				o.NVProxy = true
				o.NVProxyCaps = nvconf.SupportedDriverCaps
			}},
		{name + "-everything", "platform " + name + " with host networking and raw sockets, nvproxy with all supported " +
			"driver capabilities, tpuproxy, profiling and cgo", newPlatform, func(o *config.Options) {
			o.HostNetwork = true
			o.HostNetworkRawSockets = true
			o.NVProxy = true
			o.NVProxyCaps = nvconf.SupportedDriverCaps
			o.TPUProxy = true
			o.ProfileEnable = true
			o.CgoEnabled = true
		}},
	}
}

// These are the actions of the dumps. gVisor uses kill_process for all three. Here denial has a different action, so that a
// program which confuses the two rule sets differs. The default is fixed because gVisor would otherwise ask the running kernel
// for it.
const (
	denyAction    = seccomp.Action("return_error:0001") // EPERM
	defaultAction = seccomp.KillProcess
	badArchAction = seccomp.KillProcess
)

// variable is a value that is known only when the Sentry starts. A marker stands for it in the
// rules until they are compiled or exported.
type variable struct {
	name   string
	value  uint32
	marker uint64
}

var (
	controllerFD   = variable{"controller_fd", 7, 0x5ec00001}
	selfPID        = variable{"self_pid", 4242, 0x5ec00002}
	threadPriority = variable{"systrap_sysmsg_thread_priority", 1, 0x5ec00003} // gVisor computes this priority at nice 0
	variables      = []variable{controllerFD, selfPID, threadPriority}
)

// markedPlatform returns markers where the platform would examine the running process.
type markedPlatform struct{ platform.SeccompInfo }

// Variables implements platform.SeccompInfo.
func (p markedPlatform) Variables() precompiledseccomp.Values {
	values := precompiledseccomp.Values{}
	if len(p.SeccompInfo.Variables()) != 0 {
		values.SetUint64(threadPriority.name, threadPriority.marker)
	}
	return values
}

// check returns an error if the platform has variables that Variables does not cover.
func (p markedPlatform) check() error {
	ours := p.Variables()
	for name := range p.SeccompInfo.Variables() {
		if _, ok := ours[name]; !ok {
			return fmt.Errorf("the platform has a variable %q that has no marker", name)
		}
	}
	return nil
}

// program returns a newly made program with markers for variables.
func (c configuration) program() (*seccomp.Program, error) {
	marked := markedPlatform{c.platform()}
	if err := marked.check(); err != nil {
		return nil, err
	}
	options := config.Options{Platform: marked, ControllerFD: uint32(controllerFD.marker)}
	c.set(&options)
	allow, deny := config.Rules(options)
	allow, deny = allow.Copy(), deny.Copy()
	if err := markPID(allow); err != nil {
		return nil, err
	}
	build := config.SeccompOptions(options)
	build.DefaultAction = defaultAction
	build.BadArchAction = badArchAction
	return &seccomp.Program{
		RuleSets: []seccomp.RuleSet{{Rules: deny, Action: denyAction}, {Rules: allow, Action: seccomp.Allow}},
		Options:  build,
	}, nil
}

// markPID puts the marker where gVisor compares with its own process id.
func markPID(rules seccomp.SyscallRules) error {
	own := seccomp.EqualTo(os.Getpid())
	found := map[uintptr]bool{}
	for _, nr := range []uintptr{unix.SYS_TGKILL, unix.SYS_RT_TGSIGQUEUEINFO} {
		rewriteSyscall(rules, nr, func(args seccomp.PerArg) seccomp.PerArg {
			if args[0] == own {
				args[0] = seccomp.EqualTo(selfPID.marker)
				found[nr] = true
			}
			return args
		})
	}
	if !found[unix.SYS_TGKILL] {
		return fmt.Errorf("the rule of tgkill does not compare with the process id")
	}
	return nil
}

// substitute replaces markers by the variables' values.
func substitute(rules seccomp.SyscallRules) {
	for _, nr := range numbers(rules) {
		rewriteSyscall(rules, nr, func(args seccomp.PerArg) seccomp.PerArg {
			for i, matcher := range args {
				for _, v := range variables {
					if matcher == seccomp.EqualTo(v.marker) {
						args[i] = seccomp.EqualTo(v.value)
					}
				}
			}
			return args
		})
	}
}

func rewriteSyscall(rules seccomp.SyscallRules, nr uintptr, change func(seccomp.PerArg) seccomp.PerArg) {
	if !rules.Has(nr) {
		return
	}
	var rewrite func(seccomp.SyscallRule) seccomp.SyscallRule
	rewrite = func(rule seccomp.SyscallRule) seccomp.SyscallRule {
		if args, ok := rule.(seccomp.PerArg); ok {
			return change(args)
		}
		rule.Recurse(rewrite)
		return rule
	}
	rule := rewrite(rules.Get(nr))
	rules.Remove(nr)
	rules.Set(nr, rule)
}

// numbers returns the system calls that have a rule, in ascending order. gVisor offers no way to list them.
func numbers(rules seccomp.SyscallRules) []uintptr {
	var found []uintptr
	for _, key := range reflect.ValueOf(rules).FieldByName("rules").MapKeys() {
		found = append(found, uintptr(key.Uint()))
	}
	slices.Sort(found)
	return found
}

// compile calls program twice, and compiles one result without and the other with gVisor's
// optimizations. Each compilation needs rules of its own.
func compile(program func() (*seccomp.Program, error)) (before, after []bpf.Instruction, err error) {
	build := func(skip bool) ([]bpf.Instruction, error) {
		p, err := program()
		if err != nil {
			return nil, err
		}
		for _, set := range p.RuleSets {
			substitute(set.Rules)
		}
		p.Options.SkipOptimizations = skip
		insns, _, err := p.Build()
		return insns, err
	}
	if before, err = build(true); err != nil {
		return nil, nil, err
	}
	after, err = build(false)
	return before, after, err
}
