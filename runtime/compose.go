package runtime

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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
	info  store.ConversationInfo
	party store.Party
	took  bool       // the agent took part
	told  store.Told // what the generation was told in which it did
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
	reason, after := past.handover(s, toolsDigest(s.direct()))
	// What the generation said itself stands in its provider conversation.
	x := store.EntryRange{After: after, But: store.Party{Agent: s.info.Name, Generation: s.generation}}
	change, block, err := r.blockOf(ctx, past.info, reason, x)
	if err != nil {
		return err
	}
	if change.Entries == 0 && (reason == ReasonMissed || reason == ReasonJoined) {
		return nil
	}
	out.changes = append(out.changes, change)
	if block != "" {
		out.words = block + "\n\n" + out.words
	}
	return nil
}

// blockOf renders what is to be handed over of a Conversation; without an entry there is no block.
func (r *Runner) blockOf(ctx context.Context, info store.ConversationInfo, reason Reason, x store.EntryRange) (*event.HandedOver, string, error) {
	c := info.ConversationKey
	change := &event.HandedOver{Reason: string(reason), Conversation: c.Name()}
	var first []store.Entry
	err := r.o.Store.View(ctx, func(tx *store.Tx) (err error) {
		if change.Entries, err = tx.CountEntries(c, x); err == nil {
			first, err = tx.Entries(c, x, 1, true)
		}
		return err
	})
	if err != nil || len(first) == 0 {
		return change, "", asStore(err)
	}
	if r.o.Handoff == nil {
		return nil, "", Errorf(KindUnsupported, "the agent has missed %d entries of %s, and nothing here can hand them over", change.Entries, c)
	}
	request, err := r.decodeEntry(first[0])
	if err != nil {
		return nil, "", asStore(err)
	}
	now, err := r.standing(ctx, info)
	if err != nil {
		return nil, "", asStore(err)
	}
	var failed error
	block := r.o.Handoff.Block(Handover{
		Reason: reason, Entries: r.entries(ctx, c, x, &failed), Count: change.Entries, First: &request, Now: now, Hide: r.o.Hide,
	})
	change.Block, change.LeftOut, change.Secrets = block.Text, block.LeftOut, block.Secrets
	return change, block.Text, asStore(failed)
}

// asStore is storeError that leaves nil what it is.
func asStore(err error) error {
	if err == nil {
		return nil
	}
	return storeError(err)
}

// talkPast reads what the Conversation of a session holds.
func (r *Runner) talkPast(ctx context.Context, s *session) (p talkPast, err error) {
	err = r.o.Store.View(ctx, func(tx *store.Tx) (err error) {
		if p.info, _, err = tx.Conversation(s.conv.key); err != nil {
			return err
		}
		if p.party, p.took, err = tx.Party(s.conv.key, s.info.Name); err == nil && p.took {
			p.told, err = tx.Told(s.key.Generation(p.party.Generation))
		}
		return err
	})
	return p, err
}

// handover says why a prompt does not simply go on, and behind which entry stands what its agent has to be told. tools is the digest of
// those it has now.
func (p talkPast) handover(s *session, tools string) (reason Reason, after int) {
	switch {
	case p.took && p.party.Generation == s.generation:
		return ReasonMissed, max(p.info.Point, p.party.Seen)
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
	return reason, p.info.Point
}

const (
	// treeLimit bounds how long the state of a working tree is looked for.
	treeLimit = 2 * time.Second
	// standingEntries is how many of the newest entries say where things stand.
	standingEntries = 256
)

// standing says where things stand in a Conversation after its restart point.
func (r *Runner) standing(ctx context.Context, info store.ConversationInfo) (Standing, error) {
	var failed error
	var list []Entry
	for e := range r.entries(ctx, info.ConversationKey, store.EntryRange{After: info.Point}, &failed) {
		if len(list) == standingEntries {
			break
		}
		list = append(list, e)
	}
	now := StandingOf(slices.Collect(Newest(list)))
	now.Running = running(list)
	if r.o.Tree != nil {
		ctx, stop := context.WithTimeout(ctx, treeLimit)
		defer stop()
		now.Tree = r.o.Tree(ctx, info.Root)
	}
	return now, failed
}

// running is the work that was begun in the newest entry of each agent, and of which no end was seen. entries are newest first.
func running(entries []Entry) []string {
	var list []string
	newest := map[string]bool{}
	for _, e := range entries {
		if newest[e.Agent] {
			continue
		}
		newest[e.Agent] = true
		for _, part := range e.Parts {
			if a := part.Action; a != nil && a.Outcome == "" {
				list = append(list, strings.TrimSpace(a.Name+" "+a.Subject)+", begun by "+e.Shown)
			}
		}
	}
	return list
}

// tellInstructions has the agent told the instructions that apply, if it was told others last.
func (r *Runner) tellInstructions(s *session, q request, out *said) {
	text := q.at.offers.last.instructions()
	want := r.instructionsDigest(text)
	out.carried.Instructions = want
	had := s.told.Instructions
	if had == want {
		if s.retold {
			out.changes = append(out.changes, s.changed(""))
		}
		s.retold = false
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
		out.changes = append(out.changes, s.changed(frame))
	}
}

// changed says that the agent is told other instructions than before; block is what is sent of them with the prompt.
func (s *session) changed(block string) *event.HandedOver {
	change := &event.HandedOver{Reason: string(ReasonInstructions), Block: block}
	if s.conv != nil {
		change.Conversation = s.conv.key.Name()
	}
	return change
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
