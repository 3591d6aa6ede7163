package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/term"
)

// stopGrace is how long a command may take to end after a signal before it is killed.
const stopGrace = 10 * time.Second

// runCommand runs a command to its end and returns its exit code. A signal is passed on to it; whatever
// it leaves running in its process group is killed, so that nothing outlives the control plane. When the
// control plane itself fails meanwhile, the command is stopped.
func runCommand(argv, env []string, signals <-chan os.Signal, failed <-chan error) (int, error) {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if stdin := int(os.Stdin.Fd()); term.IsTerminal(stdin) {
		// In a group of its own, only a command in the foreground may read the terminal.
		cmd.SysProcAttr.Foreground = true
		cmd.SysProcAttr.Ctty = stdin
	}
	if err := cmd.Start(); err != nil {
		return 127, err
	}
	group := -cmd.Process.Pid
	defer syscall.Kill(group, syscall.SIGKILL)

	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()

	var failure error
	var kill <-chan time.Time
	for {
		select {
		case err := <-done:
			return exitCode(err), failure
		case sig := <-signals:
			syscall.Kill(group, sig.(syscall.Signal))
			kill = time.After(stopGrace)
		case failure = <-failed:
			failed = nil
			syscall.Kill(group, syscall.SIGTERM)
			kill = time.After(stopGrace)
		case <-kill:
			fmt.Fprintln(os.Stderr, "controlplane: the command did not stop, killing it")
			syscall.Kill(group, syscall.SIGKILL)
		}
	}
}

// exitCode is the code a shell would report: 128 and the signal's number for a killed process.
func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit):
		if status := exit.Sys().(syscall.WaitStatus); status.Signaled() {
			return 128 + int(status.Signal())
		}
		return exit.ExitCode()
	default:
		return 1
	}
}
