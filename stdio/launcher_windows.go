package stdio

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/windows"
)

// prepareLauncher lets cmd.exe run a batch file with a command line that it understands, unless Prepare wrote one.
func prepareLauncher(cmd *exec.Cmd) error {
	if !isBatch(cmd.Path) || cmd.SysProcAttr != nil && cmd.SysProcAttr.CmdLine != "" {
		return nil
	}
	line, err := batchCommandLine(cmd.Path, cmd.Args[1:])
	if err != nil {
		return err
	}
	system, err := windows.GetSystemDirectory() // not COMSPEC: anybody can set that
	if err != nil {
		return fmt.Errorf("cmd.exe: %w", err)
	}
	cmd.Path = filepath.Join(system, "cmd.exe")
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.CmdLine = line
	return nil
}
