package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"xmd/runtime/store"
)

// shownTurns is how many turns of a generation are shown.
const shownTurns = 10

// sessionDetail is a session as `sessions show` tells it.
type sessionDetail struct {
	V           int                `json:"v"`
	Agent       string             `json:"agent"`
	Session     string             `json:"session"`
	Root        string             `json:"root"`
	Current     int                `json:"current"` // the current generation; 0: no turn was accepted yet
	State       string             `json:"state"`
	Restart     bool               `json:"restart"` // the next prompt begins a new conversation
	Owner       *ownerDetail       `json:"owner"`   // null: nobody ever had it here
	Generations []generationDetail `json:"generations"`
	Moves       []moveDetail       `json:"moves"`
	Runs        []string           `json:"runs"`
}

type ownerDetail struct {
	State      string `json:"state"`
	Pid        int    `json:"pid"`
	Run        string `json:"run,omitempty"`
	Step       string `json:"step,omitempty"`
	Generation int    `json:"generation"`
	NativeID   string `json:"nativeSessionId,omitempty"`
	Since      string `json:"since"`
}

type generationDetail struct {
	Generation   int                `json:"generation"`
	NativeID     string             `json:"nativeSessionId"`
	Transport    string             `json:"transport"`
	Provenance   string             `json:"provenance"`
	Created      string             `json:"createdAt"`
	RecordedRoot string             `json:"recordedRoot,omitempty"` // the root in its route, when it lives in another
	Established  *store.Established `json:"established,omitempty"`
	Instructions string             `json:"instructionDigest,omitempty"`
	Turns        int                `json:"turns"`
	LastTurns    []turnDetail       `json:"lastTurns"`
	Marks        []markDetail       `json:"marks"`
}

type turnDetail struct {
	Number   int    `json:"number"`
	Time     string `json:"time"`
	Accepted string `json:"accepted"`
	Run      string `json:"run,omitempty"`
	Step     string `json:"step,omitempty"`
}

type markDetail struct {
	Name string          `json:"name"`
	Time string          `json:"time"`
	Run  string          `json:"run,omitempty"`
	Data json.RawMessage `json:"data,omitempty"`
}

type moveDetail struct {
	From string `json:"from"`
	To   string `json:"to"`
	Time string `json:"time"`
}

func showVerb(ctx context.Context, p *program, h *host, c *call, s *store.Store, args []string) error {
	if talk, ok, err := h.findConversation(ctx, s, args[0], c.String("root")); err != nil || ok {
		if err != nil {
			return err
		}
		return showTalk(ctx, p, c, s, talk)
	}
	f, err := h.findSession(ctx, s, args[0], c.String("root"))
	if err != nil {
		return err
	}
	only := 0
	if strings.Contains(args[0], "@") {
		only = f.route.Generation
	}
	d, err := detailOf(ctx, s, f, only)
	if err != nil {
		return storeProblem(err)
	}
	if c.String("format") == "json" {
		return writeJSON(p, d)
	}
	var b strings.Builder
	d.write(&b)
	_, err = fmt.Fprint(p.stdout, printable(b.String()))
	return err
}

// detailOf gathers what is known of a session, of one generation if only is not 0.
func detailOf(ctx context.Context, s *store.Store, f found, only int) (sessionDetail, error) {
	key := f.route.SessionKey()
	d := sessionDetail{V: 1, Agent: key.Agent, Session: key.Session, Root: key.Root}
	err := s.View(ctx, func(tx *store.Tx) error {
		current, _, err := tx.Current(key)
		if err != nil {
			return err
		}
		d.Current = current.Generation
		if d.Restart, err = tx.RestartDue(key); err != nil {
			return err
		}
		if err := d.owner(tx, key); err != nil {
			return err
		}
		sel := store.Selector{Agent: key.Agent, Session: key.Session, Generation: only}
		routes, err := tx.Routes(store.Filter{Selector: sel, Root: key.Root, All: true, Forgotten: true})
		if err != nil {
			return err
		}
		for _, r := range routes {
			if err := d.generation(tx, r); err != nil {
				return err
			}
		}
		d.Runs, err = tx.RunsOf(key)
		return err
	})
	if err != nil {
		return d, err
	}
	d.Generations, d.Moves, d.Runs = orNone(d.Generations), orNone(d.Moves), orNone(d.Runs)
	holder, err := s.Locked(store.LockSession, key.LockName())
	owner := string(store.OwnerIdle)
	if d.Owner != nil {
		owner = d.Owner.State
	}
	d.State = sessionState(holder != nil, owner)
	return d, err
}

func (d *sessionDetail) owner(tx *store.Tx, key store.SessionKey) error {
	o, there, err := tx.Owner(key)
	if err == nil && there {
		d.Owner = &ownerDetail{string(o.State), o.Pid, o.Run, o.Step, o.Generation, o.NativeID, stamp(o.Since)}
	}
	return err
}

func (d *sessionDetail) generation(tx *store.Tx, r store.Route) error {
	g := generationDetail{
		Generation: r.Generation, NativeID: r.NativeSessionID, Transport: r.Transport, Provenance: r.Provenance, Created: stamp(r.CreatedAt),
		RecordedRoot: r.RecordedRoot, Established: r.Established, Instructions: r.InstructionDigest,
		LastTurns: []turnDetail{}, Marks: []markDetail{},
	}
	next, err := tx.NextTurn(r.Key)
	if err != nil {
		return err
	}
	g.Turns = next - 1
	turns, err := tx.LastTurns(r.Key, shownTurns)
	if err != nil {
		return err
	}
	for _, t := range turns {
		g.LastTurns = append(g.LastTurns, turnDetail{t.Number, stamp(t.Time), string(t.Accepted), t.Run, t.Step})
	}
	marks, err := tx.Marks(r.Key)
	if err != nil {
		return err
	}
	for _, m := range marks {
		g.Marks = append(g.Marks, markDetail{m.Name, stamp(m.Time), m.Run, m.Data})
		var way moveDetail
		if m.Name == store.MarkMoved && json.Unmarshal(m.Data, &way) == nil && len(d.Generations) == 0 {
			way.Time = stamp(m.Time)
			d.Moves = append(d.Moves, way) // every generation went along, the oldest every time
		}
	}
	d.Generations = append(d.Generations, g)
	return nil
}

// write tells it to a person: the current generation whole, the others in a line each.
func (d *sessionDetail) write(w io.Writer) {
	for i, g := range d.Generations {
		if i == len(d.Generations)-1 {
			d.writeGeneration(w, g)
		}
	}
	if len(d.Generations) == 0 {
		line(w, "session", d.key().String())
		line(w, "root", d.Root)
		line(w, "turns", "none was accepted yet")
	}
	line(w, "owner", d.ownerLine())
	if d.Restart {
		line(w, "restart", "the next prompt begins a new conversation")
	}
	for _, m := range d.Moves {
		line(w, "moved", fmt.Sprintf("%s  %s -> %s", m.Time, m.From, m.To))
	}
	for i := len(d.Generations) - 2; i >= 0; i-- {
		g := d.Generations[i]
		line(w, "older", fmt.Sprintf("@%d  %s  %d turns, created %s", g.Generation, g.NativeID, g.Turns, g.Created))
	}
	if len(d.Runs) > 0 {
		line(w, "runs", strings.Join(d.Runs, " "))
	}
}

func (d *sessionDetail) key() store.SessionKey {
	return store.SessionKey{Agent: d.Agent, Session: d.Session, Root: d.Root}
}

func (d *sessionDetail) writeGeneration(w io.Writer, g generationDetail) {
	line(w, "session", d.key().Generation(g.Generation).String())
	line(w, "root", d.Root)
	if g.RecordedRoot != "" {
		line(w, "constructed", "in "+g.RecordedRoot)
	}
	line(w, "conversation", g.NativeID+"  "+g.Provenance)
	line(w, "transport", g.Transport)
	line(w, "created", g.Created)
	line(w, "established", establishedLine(g.Established))
	if g.Instructions != "" {
		line(w, "instructions", g.Instructions)
	}
	line(w, "turns", fmt.Sprint(g.Turns))
	for _, t := range g.LastTurns {
		line(w, "", strings.TrimRight(fmt.Sprintf("%d  %s  %s  %s  %s", t.Number, t.Time, acceptedWord(t.Accepted), t.Run, t.Step), " "))
	}
	for _, m := range g.Marks {
		line(w, "mark", m.Time+"  "+m.Name)
	}
}

func line(w io.Writer, name, text string) {
	_, _ = fmt.Fprintf(w, "%-12s %s\n", name, text)
}

func establishedLine(e *store.Established) string {
	switch {
	case e == nil:
		return "version not recorded"
	case e.Digest == "":
		return e.Version
	}
	return first(e.Version, "version not recorded") + "  digest " + e.Digest
}

func acceptedWord(accepted string) string {
	return map[string]string{"yes": "accepted", "no": "not accepted", "unknown": "not known"}[accepted]
}

func (d *sessionDetail) ownerLine() string {
	if d.Owner == nil || d.Owner.State == string(store.OwnerIdle) && d.State == stateIdle {
		return d.State
	}
	o := d.Owner
	text := fmt.Sprintf("%s: %s since %s, process %d", d.State, o.State, o.Since, o.Pid)
	if o.Run != "" {
		text += ", run " + o.Run
	}
	if o.Step != "" {
		text += ", step " + o.Step
	}
	return text
}
