// Command runc puts runc's translation of seccomp profiles under test: libcontainer/specconv, libcontainer/seccomp, and the
// instructions that patchbpf puts in front of libseccomp's filter.
//
// It serves requests as harness/adapter/PROTOCOL.md describes. runc returns no filter but loads it into the calling process, so each
// request starts this program again and reads the filter as that process loads it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"

	"github.com/opencontainers/runc/libcontainer/seccomp"
	"github.com/opencontainers/runc/libcontainer/specconv"
	"github.com/opencontainers/runtime-spec/specs-go"
	"github.com/secequiv/secequiv/api/go/normalform"
	"github.com/secequiv/secequiv/api/go/serve"
	"secequiv/adapters/oci"
)

const loading = "load" // the argument of the process that loads a filter

var enosys = flag.Bool("enosys", false, "compile policies even if runc's filter then returns ENOSYS for numbers above the highest call of the policy")

func main() {
	if len(os.Args) == 2 && os.Args[1] == loading {
		if err := load(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	serve.Main(serve.Handlers{Compile: compile})
}

func compile(text []byte) ([]serve.Insn, error) {
	read, err := normalform.Read(text)
	if err != nil {
		return nil, err
	}
	profile, err := oci.Express(read)
	if err != nil {
		return nil, err
	}
	if !*enosys && hasStub(profile) {
		return nil, serve.Unsupported("runc's filter returns ENOSYS for numbers above the highest call of the policy (see --enosys)")
	}
	body, err := json.Marshal(profile)
	if err != nil {
		return nil, err
	}
	return loaded(body)
}

// hasStub returns whether runc puts its test for unknown calls in front of the filter.
func hasStub(profile *specs.LinuxSeccomp) bool {
	switch profile.DefaultAction {
	case specs.ActAllow, specs.ActLog, specs.ActTrace:
		return false
	}
	const enosys = 38
	return profile.DefaultErrnoRet == nil || *profile.DefaultErrnoRet != enosys
}

// load makes runc load the profile on standard input into this process.
func load() error {
	runtime.LockOSThread()
	var profile specs.LinuxSeccomp
	if err := json.NewDecoder(os.Stdin).Decode(&profile); err != nil {
		return err
	}
	config, err := specconv.SetupSeccomp(&profile)
	if err != nil {
		return err
	}
	_, err = seccomp.InitSeccomp(config)
	return err
}
