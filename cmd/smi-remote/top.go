package main

import (
	"context"
	"time"
)

func (a *app) top(ctx context.Context, interval time.Duration) error { return usagef("top needs a terminal, and is not there yet") }
