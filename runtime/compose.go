package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"xmd/runtime/event"
	"xmd/runtime/store"
)

// said is what a prompt becomes when it is sent.
type said struct {
	words   string // as they are sent: what has to come first, and then the author's
	inform  string // what goes beside them in the agent's own channel
	carried *carried
	changes []*event.HandedOver
}

// talkPast is what a Conversation holds when a prompt is about to be sent in it.
type talkPast struct {
	info    store.ConversationInfo
	party   store.Party
	took    bool       // the agent took part
	told    store.Told // what the generation was told in which it did
	entries []entry    // after the point
}

// entry is an entry of the log with whose it is.
type entry struct {
	Entry
	generation int
}

// compose makes what is sent of a prompt's words: exactly them, unless the agent has missed something of its Conversation or there are
// instructions that it was not told.
func (r *Runner) compose(ctx context.Context, s *session, q request) (said, error) {
	out := said{words: q.words, carried: &carried{Tools: s.told.Tools}}
	var err error
	if s.conv != nil {
		err = r.handOver(ctx, s, q, &out)
	}
	if err != nil {
		return out, err
	}
	r.tellInstructions(s, q, &out)
	if s.conv == nil && out.carried.Instructions == "" && out.carried.Tools == "" && s.told == (store.Told{}) {
		out.carried = nil
	}
	return out, nil
}

// handOver puts what the agent has missed in front of the words.
func (r *Runner) handOver(ctx context.Context, s *session, q request, out *said) error {
	past, err := r.talkPast(ctx, s)
	if err != nil {
		return storeError(err)
	}
	own := q.own
	if own == "" {
		own = q.words
	}
	mine := Entry{
		Agent: s.info.Name, Shown: s.info.Shown, Run: r.o.RunID, Step: q.where.Step, Time: time.Now().UTC(),
		Words: strings.ToValidUTF8(own, "\uFFFD"), Questions: s.conv.takeAsked(r),
	}
	if out.carried.Entry, err = r.encodeEntry(&mine); err != nil {
		return storeError(err)
	}
	out.carried.UpTo = past.info.Last
	reason, missed := past.handover(s, toolsDigest(s.offer.tools))
	if len(missed) == 0 && !slices.Contains([]Reason{ReasonLost, ReasonTools, ReasonNoLoad}, reason) {
		return nil
	}
	change := &event.HandedOver{Reason: string(reason), Conversation: s.conv.key.Name(), Entries: len(missed)}
	out.changes = append(out.changes, change)
	if len(missed) == 0 {
		return nil
	}
	if r.o.Handoff == nil {
		return Errorf(KindUnsupported, "%s has missed a part of %s, and nothing here can hand it over", s.info.Shown, s.conv.shown())
	}
	h := Handover{Reason: reason, Entries: missed, Now: r.standing(ctx, s.key.Root, past.entries), Hide: r.hide}
	block := r.o.Handoff.Block(h)
	change.Block, change.LeftOut, change.Secrets = block.Text, block.LeftOut, block.Secrets
	out.words = block.Text + "\n\n" + out.words
	return nil
}

// talkPast reads what the Conversation of a session holds.
func (r *Runner) talkPast(ctx context.Context, s *session) (talkPast, error) {
	var p talkPast
	var stored []store.Entry
	err := r.o.Store.View(ctx, func(tx *store.Tx) (err error) {
		if p.info, _, err = tx.Conversation(s.conv.key); err != nil {
			return err
		}
		if p.party, p.took, err = tx.Party(s.conv.key, s.info.Name); err != nil {
			return err
		}
		if p.took {
			if p.told, err = tx.Told(s.key.Generation(p.party.Generation)); err != nil {
				return err
			}
		}
		stored, err = tx.Entries(s.conv.key, p.info.Point)
		return err
	})
	for _, one := range stored {
		e, derr := r.decodeEntry(one)
		if derr != nil {
			return p, fmt.Errorf("entry %d of %s: %w", one.Number, s.conv.key, derr)
		}
		p.entries = append(p.entries, entry{e, one.Generation})
	}
	return p, err
}

// handover says why a prompt does not simply go on, and what its agent has to be told. tools is the digest of those it has now.
func (p talkPast) handover(s *session, tools string) (Reason, []Entry) {
	reason, after := ReasonMissed, p.info.Point
	switch {
	case p.took && p.party.Generation == s.generation:
		after = max(after, p.party.Seen)
	case !p.took || p.party.Seen <= p.info.Point:
		reason = ReasonJoined
	case s.why != "":
		reason = s.why
	case s.info.OwnTools && p.told.Tools != tools:
		reason = ReasonTools
	case s.cannotLoad():
		reason = ReasonNoLoad
	default:
		reason = ReasonLost
	}
	var missed []Entry
	for _, e := range p.entries {
		mine := e.Agent == s.info.Name && e.generation == s.generation // it stands in the provider conversation
		if e.Number > after && !mine {
			missed = append(missed, e.Entry)
		}
	}
	return reason, missed
}

// treeLimit bounds how long the state of a working tree is looked for.
const treeLimit = 2 * time.Second

// standing says where things stand in a Conversation.
func (r *Runner) standing(ctx context.Context, root string, entries []entry) Standing {
	var now Standing
	newest := map[string]bool{}
	for _, e := range slices.Backward(entries) {
		if now.Todo == nil && e.Todo != nil {
			now.Todo = e.Todo
		}
		for _, q := range e.Questions {
			if !q.Answered {
				now.Questions = append(now.Questions, q.Question)
			}
		}
		if newest[e.Agent] {
			continue
		}
		newest[e.Agent] = true
		for _, part := range e.Parts {
			if a := part.Action; a != nil && a.Outcome == "" {
				now.Running = append(now.Running, strings.TrimSpace(a.Name+" "+a.Subject)+", begun by "+e.Shown)
			}
		}
	}
	slices.Reverse(now.Questions)
	if r.o.Tree != nil {
		ctx, stop := context.WithTimeout(ctx, treeLimit)
		defer stop()
		now.Tree = r.o.Tree(ctx, root)
	}
	return now
}

// tellInstructions has the agent told the instructions that apply, if it was told others last.
func (r *Runner) tellInstructions(s *session, q request, out *said) {
	text := q.at.layer.text()
	want := r.instructionsDigest(text)
	out.carried.Instructions = want
	had := s.told.Instructions
	if had == want {
		return
	}
	frame := framed(text, had != "")
	if i, ok := s.conn.(Informer); ok {
		i.Inform("") // what an earlier attempt left
		out.inform = frame
	} else {
		out.words = frame + "\n\n" + out.words
	}
	if had != "" {
		change := &event.HandedOver{Reason: string(ReasonInstructions), Block: frame}
		if s.conv != nil {
			change.Conversation = s.conv.key.Name()
		}
		out.changes = append(out.changes, change)
	}
}

// instructionsDigest tells instructions from others; another value of a secret in them is the same. "" for none.
func (r *Runner) instructionsDigest(text string) string {
	if text == "" {
		return ""
	}
	return r.inputOf(text)
}

// takeAsked takes what was asked since the last turn.
func (c *conversation) takeAsked(r *Runner) []Asked {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := c.asked
	c.asked = nil
	return asked
}

func digestOf(raw []byte) string {
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
