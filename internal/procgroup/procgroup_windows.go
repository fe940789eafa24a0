package procgroup

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// system holds the job object, which contains the leader and every process that it starts.
type system struct{ job windows.Handle }

func bindToThread(Options) (unbind func()) { return func() {} }

// start starts the leader suspended, puts it into the job and lets it run, so that it cannot start anything outside.
func (g *Group) start(Options) error {
	job, err := newJob()
	if err != nil {
		return err
	}
	attr := g.cmd.SysProcAttr
	if attr == nil {
		attr = &syscall.SysProcAttr{}
	}
	attr.HideWindow = true
	attr.CreationFlags |= windows.CREATE_SUSPENDED | windows.CREATE_NO_WINDOW
	g.cmd.SysProcAttr = attr
	if err := g.cmd.Start(); err != nil {
		_ = windows.CloseHandle(job)
		return err
	}
	g.system.job = job
	if err := g.enterJob(); err != nil {
		_ = g.cmd.Process.Kill()
		_ = g.cmd.Wait()
		g.release()
		return fmt.Errorf("job object: %w", err)
	}
	return nil
}

// newJob returns a job whose processes end when its last handle is closed: by release, or by the death of the host.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("job object: %w", err)
	}
	var limits windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	limits.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&limits)), uint32(unsafe.Sizeof(limits)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, fmt.Errorf("job object: %w", err)
	}
	return job, nil
}

func (g *Group) enterJob() error {
	var err error
	handleErr := g.cmd.Process.WithHandle(func(process uintptr) {
		err = windows.AssignProcessToJobObject(g.system.job, windows.Handle(process))
	})
	if err := errors.Join(handleErr, err); err != nil {
		return err
	}
	return resumeThreads(uint32(g.cmd.Process.Pid))
}

// resumeThreads lets a suspended process run. Package os does not keep the handle of its first thread.
func resumeThreads(pid uint32) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(snapshot)
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	resumed := false
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		if err := resumeThread(entry.ThreadID); err != nil {
			return err
		}
		resumed = true
	}
	if !resumed {
		return fmt.Errorf("no thread of process %d found: %w", pid, err)
	}
	return nil
}

func resumeThread(id uint32) error {
	thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, id)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(thread)
	_, err = windows.ResumeThread(thread)
	return err
}

// awaitExit blocks until the leader has ended. The handle keeps its pid from being used again.
func (g *Group) awaitExit() {
	_ = g.cmd.Process.WithHandle(func(process uintptr) {
		_, _ = windows.WaitForSingleObject(windows.Handle(process), windows.INFINITE)
	})
}

var errNoTerminate = errors.New("no way to ask a process to end")

// terminate has no counterpart for a process without a console: the end of its input is all that it can be told.
func (g *Group) terminate() error { return errNoTerminate }

func (g *Group) kill() { _ = windows.TerminateJobObject(g.system.job, 1) }

// basicAccounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type basicAccounting struct {
	TotalUserTime, TotalKernelTime, ThisPeriodUserTime, ThisPeriodKernelTime       int64
	TotalPageFaultCount, TotalProcesses, ActiveProcesses, TotalTerminatedProcesses uint32
}

// jobBasicAccounting is JobObjectBasicAccountingInformation of JOBOBJECTINFOCLASS.
const jobBasicAccounting = 1

// othersAlive is asked after the leader has ended, so every active process is another one.
func (g *Group) othersAlive() bool {
	var info basicAccounting
	err := windows.QueryInformationJobObject(g.system.job, jobBasicAccounting, uintptr(unsafe.Pointer(&info)),
		uint32(unsafe.Sizeof(info)), nil)
	return err == nil && info.ActiveProcesses > 0
}

func (g *Group) release() { _ = windows.CloseHandle(g.system.job) }
