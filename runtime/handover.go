package runtime

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"xmd/runtime/event"
	"xmd/runtime/secret"
	"xmd/runtime/store"
)

// HandOver renders what an agent would be told of a Conversation before its next prompt: only what it has missed, or everything if it
// never took part. Nobody is contacted. The block is empty when it has missed nothing.
func (r *Runner) HandOver(ctx context.Context, c store.ConversationInfo, to AgentInfo) (*event.HandedOver, error) {
	s := &session{key: c.Of(to.Name), conv: &conversation{key: c.ConversationKey}, info: to}
	past, err := r.talkPast(ctx, s)
	if err != nil {
		return nil, storeError(err)
	}
	if s.generation = past.party.Generation; past.took {
		err = r.o.Store.View(ctx, func(tx *store.Tx) error {
			due, err := tx.RestartDue(s.key)
			if due {
				s.generation, s.why = s.generation+1, ReasonJoined
			}
			return err
		})
	}
	if err != nil {
		return nil, storeError(err)
	}
	reason, after := past.handover(s, past.told.Tools)
	x := store.EntryRange{After: after, But: store.Party{Agent: to.Name, Generation: s.generation}}
	change, _, err := r.blockOf(ctx, past.info, reason, x)
	return change, err
}

// HandOverSession renders what an agent would be told of a session, from the runs that are still in the store. from is when the first
// of their turns was sent. Nobody is contacted. The block is empty when there is no turn.
func (r *Runner) HandOverSession(ctx context.Context, route store.Route) (change *event.HandedOver, from time.Time, err error) {
	if r.o.Handoff == nil {
		return nil, from, Errorf(KindUnsupported, "nothing here can hand over")
	}
	var runs []string
	err = r.o.Store.View(ctx, func(tx *store.Tx) (err error) {
		runs, err = tx.RunsOf(route.SessionKey())
		return err
	})
	t := transcript{r: r, route: route, shown: route.Agent}
	if agent, err := r.o.Agents.Lookup(route.Agent); err == nil {
		t.shown = agent.Info().Shown
	}
	for _, run := range runs {
		if err == nil {
			err = t.read(ctx, run)
		}
	}
	change = &event.HandedOver{Reason: string(ReasonJoined), Entries: len(t.entries)}
	if err != nil || len(t.entries) == 0 {
		return change, from, asStore(err)
	}
	now := StandingOf(t.entries)
	if r.o.Tree != nil {
		limited, stop := context.WithTimeout(ctx, treeLimit)
		defer stop()
		now.Tree = r.o.Tree(limited, route.Root)
	}
	block := r.o.Handoff.Block(Handover{Reason: ReasonJoined, Entries: Newest(t.entries), Count: len(t.entries), First: &t.entries[0], Now: now, Hide: r.o.Hide})
	change.Block, change.LeftOut, change.Secrets = block.Text, block.LeftOut, block.Secrets
	return change, t.entries[0].Time, nil
}

// transcript reads the turns of one provider conversation from journals, as a Conversation's log has them.
type transcript struct {
	r       *Runner
	route   store.Route
	shown   string
	entries []Entry
	step    string   // of the turn that is read; "": none is
	minutes *minutes // of that turn
}

func (t *transcript) read(ctx context.Context, run string) error {
	t.step = ""
	for rec, err := range t.r.o.Store.Records(ctx, run, 0) {
		if err != nil {
			return err
		}
		switch event.Type(rec.Kind) {
		case event.PromptSent, event.Message, event.ToolStarted, event.ToolEnded, event.Todo, event.PromptEnded:
			if err := t.record(run, rec); err != nil {
				return err
			}
		}
	}
	return nil
}

// record takes one record, if it is of the conversation.
func (t *transcript) record(run string, rec store.Record) error {
	var data struct {
		At   event.At
		Body json.RawMessage
	}
	raw, err := t.r.reveal(rec.Data)
	if err == nil {
		err = json.Unmarshal(raw, &data)
	}
	if err != nil || data.At.Agent != t.route.Agent || data.At.Session != t.route.Session {
		return err
	}
	if event.Type(rec.Kind) == event.PromptSent {
		return t.sent(run, rec, data.Body)
	}
	if rec.Step != t.step || t.step == "" {
		return nil
	}
	switch event.Type(rec.Kind) {
	case event.Message:
		var d event.Delta
		err = json.Unmarshal(data.Body, &d)
		t.minutes.said(d.Text)
	case event.ToolStarted, event.ToolEnded:
		err = t.tool(data.Body)
	case event.Todo:
		var d struct{ Items []TodoItem }
		err = json.Unmarshal(data.Body, &d)
		t.minutes.list(d.Items)
	case event.PromptEnded:
		err = t.ended(data.Body)
	}
	return err
}

func (t *transcript) sent(run string, rec store.Record, body json.RawMessage) error {
	var sent event.Sent
	if err := json.Unmarshal(body, &sent); err != nil {
		return err
	}
	t.step = ""
	if sent.NativeID != t.route.NativeSessionID {
		return nil
	}
	words := sent.Words
	for range leading { // xmd's own blocks are in front
		words = withoutLeadingBlock(words)
	}
	t.step, t.minutes = rec.Step, &minutes{root: t.route.Root}
	t.entries = append(t.entries, Entry{
		Number: len(t.entries) + 1, Agent: t.route.Agent, Shown: t.shown, Run: run, Step: rec.Step, Time: rec.Time, Words: strings.TrimSpace(words),
	})
	return nil
}

func (t *transcript) tool(body json.RawMessage) error {
	var tool struct {
		event.Tool
		Diffs []Diff `json:"diffs"`
	}
	if err := json.Unmarshal(body, &tool); err != nil {
		return err
	}
	call := tool.Tool
	call.Diffs = tool.Diffs
	t.minutes.did(call)
	return nil
}

func (t *transcript) ended(body json.RawMessage) error {
	var end event.Ended
	if err := json.Unmarshal(body, &end); err != nil {
		return err
	}
	if end.Adopted {
		t.minutes.said(end.Reply)
	}
	e, done := &t.entries[len(t.entries)-1], t.minutes.entry(&end)
	e.Parts, e.Outcome, e.Failure, e.Todo = done.Parts, done.Outcome, done.Failure, done.Todo
	t.step = ""
	return nil
}

// reveal puts the values of secrets back into recorded JSON; those that are not known here are hidden.
func (r *Runner) reveal(stored json.RawMessage) (json.RawMessage, error) {
	raw, err := r.o.Secrets.DecodeJSON(stored)
	if err == nil {
		return raw, nil
	}
	names, nerr := secret.StandIns(secret.NamedJSON(stored))
	if nerr != nil {
		return nil, err
	}
	return names.MaskJSON(stored)
}
