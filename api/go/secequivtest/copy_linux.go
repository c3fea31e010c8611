package secequivtest

import (
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

// runUntilWeEnd runs a command. If this process ends first (`go test -timeout`), the kernel ends the command.
func runUntilWeEnd(command *exec.Cmd) error {
	runtime.LockOSThread() // the signal is sent when the thread that started the command ends
	defer runtime.UnlockOSThread()
	// secequiv kills its processes under test before SIGTERM ends it.
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	return command.Run()
}

// redirect makes standard output and standard error write to this file.
func redirect(file *os.File) {
	for _, each := range []int{1, 2} {
		_ = syscall.Dup3(int(file.Fd()), each, 0) // if this fails, the message is lost, but not the exit status
	}
}
