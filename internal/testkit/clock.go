package testkit

import "time"

// Clock measures how long a call takes where other processes may slow it down.
type Clock struct {
	wall time.Time
	cpu  time.Duration
}

// StartClock returns a clock that starts now.
func StartClock() Clock { return Clock{time.Now(), cpuTime()} }

// Took is the time since the start, or the CPU time of this process since then, where
// that is less. Waiting without work counts too, a twentieth of it.
func (c Clock) Took() time.Duration {
	wall := time.Since(c.wall)
	return max(min(wall, cpuTime()-c.cpu), wall/20)
}
