//go:build !linux

package secequivtest

import (
	"os"
	"os/exec"
)

func runUntilWeEnd(command *exec.Cmd) error { return command.Run() }

func redirect(*os.File) {}
