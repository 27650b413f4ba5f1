package lp

import (
	"context"
	"sync/atomic"
	"time"
)

// The contexts here end when they are asked, and only Err tells: each look at one is
// a look at that of the call, so that a test sees it, and nothing is to be canceled.

// limited is a context with less time. Its first error stays.
type limited struct {
	context.Context
	end   time.Time
	first atomic.Pointer[error]
}

func limit(ctx context.Context, left time.Duration) context.Context {
	return &limited{Context: ctx, end: time.Now().Add(left)}
}

func (c *limited) Err() error {
	err := c.Context.Err()
	if err == nil && time.Now().After(c.end) {
		err = context.DeadlineExceeded
	}
	if err != nil {
		c.first.CompareAndSwap(nil, &err)
	}
	if first := c.first.Load(); first != nil {
		return *first
	}
	return nil
}

// lateness is how long a call goes on where its context is done: enough for the
// audit of some 300 inputs on two cores.
const lateness = 200 * time.Millisecond

// lingering is a context that is done a little after another, from when it is first
// seen to be.
type lingering struct {
	context.Context
	end atomic.Pointer[time.Time]
}

func linger(ctx context.Context) context.Context { return &lingering{Context: ctx} }

func (c *lingering) Err() error {
	err := c.Context.Err()
	if err == nil {
		return nil
	}
	now := time.Now()
	end := now.Add(lateness)
	if c.end.CompareAndSwap(nil, &end) || now.Before(*c.end.Load()) {
		return nil
	}
	return err
}
