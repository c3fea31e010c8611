package main

// This file runs the process that loads a filter, and reads the filter that the process loads. It must not know policies.

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"github.com/secequiv/secequiv/api/go/serve"
	"golang.org/x/sys/unix"
)

// loaded returns the filter that a new process loads when it gets `profile`. Source: prctl(2), seccomp(2), ptrace(2).
func loaded(profile []byte) ([]serve.Insn, error) {
	runtime.LockOSThread() // only the thread that starts the process may trace it
	defer runtime.UnlockOSThread()
	var complaint bytes.Buffer
	command := exec.Command("/proc/self/exe", loading)
	command.Stdin, command.Stderr = bytes.NewReader(profile), &complaint
	command.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		return nil, err
	}
	program, err := traced(command.Process.Pid)
	end(command.Process.Pid)
	_ = command.Wait() // fails, because end() has taken the status, but closes the pipes
	if text := strings.TrimSpace(complaint.String()); errors.Is(err, errEnded) && text != "" {
		return nil, fmt.Errorf("%s", text)
	}
	return program, err
}

var errEnded = errors.New("the process ended without a filter")

// traced returns the filter that the process loads first.
func traced(pid int) ([]serve.Insn, error) {
	var status unix.WaitStatus
	if _, err := unix.Wait4(pid, &status, unix.WALL, nil); err != nil {
		return nil, err
	}
	options := unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL
	if err := unix.PtraceSetOptions(pid, options); err != nil {
		return nil, err
	}
	if err := unix.PtraceSyscall(pid, 0); err != nil {
		return nil, err
	}
	for {
		thread, err := unix.Wait4(-1, &status, unix.WALL, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return nil, err
		case status.Exited() || status.Signaled():
			if thread == pid {
				return nil, errEnded
			}
			continue
		}
		signal := 0
		switch stop := status.StopSignal(); {
		case stop == unix.SIGTRAP|0x80:
			if program, err := filterOf(thread); program != nil || err != nil {
				return program, err
			}
		case stop != unix.SIGTRAP && stop != unix.SIGSTOP:
			signal = int(stop)
		}
		if err := unix.PtraceSyscall(thread, signal); err != nil && err != unix.ESRCH {
			return nil, err
		}
	}
}

// end kills the process. The tracer must wait for each of its threads; otherwise the process remains as a zombie.
func end(pid int) {
	_ = unix.Kill(pid, unix.SIGKILL)
	for {
		var status unix.WaitStatus
		thread, err := unix.Wait4(-1, &status, unix.WALL, nil)
		if err != nil && err != unix.EINTR || thread == pid && (status.Exited() || status.Signaled()) {
			return
		}
	}
}

// filterOf returns the filter that a stopped thread loads, or nil if its system call loads none.
func filterOf(thread int) ([]serve.Insn, error) {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(thread, &regs); err != nil {
		return nil, err
	}
	byPrctl := regs.Orig_rax == unix.SYS_PRCTL && regs.Rdi == unix.PR_SET_SECCOMP && regs.Rsi == unix.SECCOMP_MODE_FILTER
	bySeccomp := regs.Orig_rax == unix.SYS_SECCOMP && regs.Rdi == unix.SECCOMP_SET_MODE_FILTER && regs.Rdx != 0
	if !byPrctl && !bySeccomp {
		return nil, nil
	}
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", thread))
	if err != nil {
		return nil, err
	}
	defer memory.Close()
	var fprog [16]byte // struct sock_fprog: a 16-bit length, padding, and a pointer
	if _, err := memory.ReadAt(fprog[:], int64(regs.Rdx)); err != nil {
		return nil, err
	}
	raw := make([]byte, 8*int(binary.NativeEndian.Uint16(fprog[:])))
	if _, err := memory.ReadAt(raw, int64(binary.NativeEndian.Uint64(fprog[8:]))); err != nil {
		return nil, err
	}
	program := make([]serve.Insn, len(raw)/8)
	return program, binary.Read(bytes.NewReader(raw), binary.NativeEndian, program)
}
