package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"time"

	"github.com/seed62b61957/mcp/transport"
)

const (
	// How often a task is asked for. The server's wish counts between the bounds: nobody is served by asking all the
	// time, nor by a result that lies there for an hour.
	defaultPollInterval = time.Second
	minPollInterval     = 100 * time.Millisecond
	maxPollInterval     = 5 * time.Minute
	// toldPollInterval is how often, at least, if the server tells of changes by itself.
	toldPollInterval = time.Minute
	// maxPollFailures bounds the tries in a row that do not reach the server, and maxPollDelay the time between them.
	maxPollFailures = 5
	maxPollDelay    = 30 * time.Second
)

// A taskWait follows a task until it has ended.
type taskWait struct {
	client   *Client
	o        *callOptions // of the requests about the task
	id       string
	task     *Task // as it was last seen
	interval time.Duration
	answered map[string]bool // the input requests, by key
	rounds   int             // how often the server asked for input
	gaveUp   bool            // this side cannot do what the task needs

	sub      *Subscription // to changes of the task, nil if there is none
	listened bool          // whether it was tried to have one
	asked    bool          // after sub was there, so that nothing was missed
}

// await gives a task what the caller has gathered for it, and waits for its end.
func (w *taskWait) await(ctx context.Context, responses map[string]json.RawMessage) (json.RawMessage, error) {
	if err := w.update(ctx, responses); err != nil {
		return nil, err
	}
	task, err := w.ask(ctx)
	if err != nil {
		return nil, err
	}
	return w.follow(ctx, task)
}

// begin waits for the end of a task that was just created. What it needs or has come to, if that is so soon, is not in
// the answer that says so.
func (w *taskWait) begin(ctx context.Context, task *Task) (json.RawMessage, error) {
	if task.Status != TaskWorking {
		if err := w.see(task); err != nil {
			return nil, err
		}
		var err error
		if task, err = w.ask(ctx); err != nil {
			return nil, &TaskError{w.task, err}
		}
	}
	return w.follow(ctx, task)
}

// follow waits for the end of a task. From here on, errors are TaskErrors.
func (w *taskWait) follow(ctx context.Context, task *Task) (json.RawMessage, error) {
	defer w.unsubscribe()
	for {
		if err := w.see(task); err != nil {
			return nil, err
		}
		if task.Status.Final() {
			return task.ended()
		}
		err := w.provide(ctx)
		if err == nil {
			task, err = w.next(ctx)
		}
		if err != nil {
			return nil, &TaskError{w.task, err}
		}
	}
}

// see takes note of the state of the task, and shows it to the caller if it is another one.
func (w *taskWait) see(task *Task) error {
	before := w.task
	w.task = task
	if task.PollInterval > 0 {
		w.interval = min(max(task.PollInterval, minPollInterval), maxPollInterval)
	}
	same := before != nil && before.Status == task.Status && before.StatusMessage == task.StatusMessage &&
		before.UpdatedAt == task.UpdatedAt
	if w.o.task == nil || same {
		return nil
	}
	if err := w.o.task(task); err != nil {
		return &TaskError{task, err}
	}
	return nil
}

// provide gives the server what it needs. A request stays in the state of the task until the server has taken in the
// answer; nobody is bothered with it a second time (Task Update Requests).
func (w *taskWait) provide(ctx context.Context) error {
	if w.task.Status != TaskInputRequired {
		return nil
	}
	needed := maps.Clone(w.task.InputRequests)
	maps.DeleteFunc(needed, func(key string, _ InputRequest) bool { return w.answered[key] })
	if len(needed) == 0 {
		return nil
	}
	if w.o.manualInput {
		return &InputRequiredError{Requests: needed, Meta: w.task.Meta}
	}
	c := w.client
	if w.rounds++; w.rounds > c.opts.MaxInputRounds {
		w.gaveUp = true
		return &InputRoundsError{Rounds: c.opts.MaxInputRounds}
	}
	responses, err := c.gather(ctx, needed, w.rounds)
	if err != nil {
		w.gaveUp = true
		return err
	}
	return w.update(ctx, responses)
}

// update sends responses, if there are any.
func (w *taskWait) update(ctx context.Context, responses map[string]json.RawMessage) error {
	if len(responses) == 0 {
		return nil
	}
	r := taskRequest("tasks/update", w.id)
	r.params = withInput(r.params, responses, nil)
	err := w.insist(ctx, func() error {
		_, err := w.client.askTask(ctx, r, w.o)
		return err
	})
	if err != nil {
		return err
	}
	if w.answered == nil {
		w.answered = make(map[string]bool)
	}
	for key := range responses {
		w.answered[key] = true
	}
	return nil
}

// ask asks for the task.
func (w *taskWait) ask(ctx context.Context) (task *Task, err error) {
	err = w.insist(ctx, func() error {
		task, err = w.client.getTask(ctx, w.id, w.o)
		return err
	})
	w.asked = w.sub != nil
	return task, err
}

// insist repeats what does not get through to the server. Both to ask for a task and to answer it may be repeated: the
// server passes over answers that it has (Task Update Requests).
func (w *taskWait) insist(ctx context.Context, try func() error) error {
	for failures := 0; ; failures++ {
		err := try()
		if err == nil || failures == maxPollFailures || !mayPass(err) {
			return err
		}
		w.client.log.Warn("the server was not reached about a task", slog.Any("error", err))
		delay := max(w.interval, min(defaultPollInterval<<failures, maxPollDelay))
		if _, err := w.pause(ctx, delay); err != nil {
			return err
		}
	}
}

// mayPass reports whether a request failed for a reason that may be gone with the next one.
func mayPass(err error) bool {
	var limit *TimeoutError
	return transport.SafeToRetry(err) || errors.Is(err, ErrNoResponse) || errors.Is(err, transport.ErrUnavailable) ||
		errors.As(err, &limit) && !limit.Hard
}

// next waits for the next state of the task.
func (w *taskWait) next(ctx context.Context) (*Task, error) {
	w.subscribe(ctx)
	interval := w.interval
	if w.sub != nil && w.asked {
		interval = max(interval, toldPollInterval)
	}
	task, err := w.pause(ctx, interval)
	if task != nil || err != nil {
		return task, err
	}
	return w.ask(ctx)
}

// pause waits for some time, or for what the server tells of the task meanwhile.
func (w *taskWait) pause(ctx context.Context, d time.Duration) (*Task, error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return nil, nil
		case <-ctx.Done():
			return nil, ended(ctx)
		case <-w.client.Done():
			return nil, w.client.err
		case <-w.changes():
			if task := w.told(); task != nil {
				return task, nil
			}
			if w.sub == nil { // what it would have told is asked for as if it had never been there
				timer.Reset(w.interval)
			}
		}
	}
}
