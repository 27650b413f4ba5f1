//go:build unix

package testkit

import (
	"syscall"
	"time"
)

// cpuTime is the CPU time that this process has had, on all processors.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
