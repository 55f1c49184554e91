package plan

import (
	"fmt"
	"strings"
)

// shape is how a vertex is drawn.
type shape uint8

const (
	boxed    shape = iota // a step
	turn                  // a turn of an agent, or a person's with it
	decision              // If
	cycle                 // Loop, Each
	fork                  // Parallel, Try
	join                  // all branches have ended
	file                  // a component file
	terminal              // start, end, Fail
	cylinder              // a session
)

// stroke is how an edge is drawn.
type stroke uint8

const (
	solid  stroke = iota // what runs next
	dashed               // what runs after a failure, or when it is called
	dotted               // the session of a turn
)

// vertex is one node of a drawing.
type vertex struct {
	id    string
	label string // its lines
	shape shape
}

// edge leads from one vertex to another.
type edge struct {
	from, to, label string
	stroke          stroke
}

// frame is a part of a drawing with a border: what an element pins or surrounds. Parts are *vertex and *frame, in document order.
type frame struct {
	id    string
	label string
	parts []any
}

// drawing is a plan as a flow chart, apart from the language that it is written in.
type drawing struct {
	root  frame
	edges []edge
}

// port is an edge whose end is not known yet: the next step that runs.
type port struct {
	from, label string
	stroke      stroke
}

// drawer makes a drawing of a plan.
type drawer struct {
	p      *Plan
	text   *printer
	items  map[string]Item // by identity
	bounds map[string][]string
	turns  map[string]string // identity of a Prompt or Launch → its vertex
	out    *drawing
	in     *frame  // gets what is drawn
	breaks *[]port // of the nearest Loop
	steps  int
	frames int
}

// draw lays out the control flow of a plan: steps in the order in which they run, arms, rounds and branches as edges, and the session of
// each turn. What a component file does is in its own plan.
func draw(p *Plan) *drawing {
	d := &drawer{p: p, text: &printer{p: p, byWhich: ofRun}, items: map[string]Item{}, bounds: map[string][]string{}, turns: map[string]string{}, out: &drawing{}}
	d.in = &d.out.root
	items := p.Items()
	for _, it := range items {
		d.items[it.ID] = it
	}
	for _, b := range p.Bounds() {
		d.bounds[b.Step] = append(d.bounds[b.Step], b.String())
	}
	d.in.parts = append(d.in.parts, &vertex{"start", p.Source.Name, terminal})
	ends := d.list(p.Body, []port{{from: "start"}})
	d.in.parts = append(d.in.parts, &vertex{"end", "end", terminal})
	d.connect(ends, "end")
	d.sessions(items)
	return d.out
}

// vertex draws a step.
func (d *drawer) vertex(s Step, as shape, in []port) string {
	id := d.join(in, d.label(s), as)
	if as == turn {
		d.turns[s.ID] = id
	}
	return id
}

// join draws a vertex that is no step, or the label of one.
func (d *drawer) join(in []port, label string, as shape) string {
	d.steps++
	id := "n" + number(d.steps)
	d.in.parts = append(d.in.parts, &vertex{id, label, as})
	d.connect(in, id)
	return id
}

// title is the kind of a step and its place.
func (d *drawer) title(s Step) string {
	kind := s.ID[strings.LastIndexByte(s.ID, '/')+1:]
	return strings.TrimRight(kind, "0123456789") + " " + d.text.place(s.Pos)
}

// label is the title of a step, and below what it does and what bounds it.
func (d *drawer) label(s Step) string {
	lines := []string{d.title(s)}
	if it, ok := d.items[s.ID]; ok {
		d.does(it, func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) })
	}
	return strings.Join(append(lines, d.bounds[s.ID]...), "\n")
}

// does says what a step does, a part a line.
func (d *drawer) does(it Item, add func(string, ...any)) {
	switch n := it.Node.(type) {
	case *Prompt:
		add("agent %s", orDefault(it.Agent, "of the run"))
		add("session %s", d.text.session(it))
		if n.Text.Given {
			add("text %s", short(argText(n.Text)))
		}
		add("%s", bindsOr(n.As, "renders its reply"))
		add1(add, "schema %s", schemaText(n.Schema))
	case *Launch:
		launchText(n, orDefault(it.Agent, "of the run"), d.text.session(it), add)
	case *Agent:
		add("%s", orDefault(it.Agent, "of the run"))
		add1(add, "model %s", given(n.Model))
		add1(add, "effort %s", given(n.Effort))
		add1(add, "mode %s", given(n.Mode))
	case *Session:
		add("%s", orDefault(it.Session, "new, unnamed"))
	case *Let:
		if n.Value.Given {
			add("value %s", short(argText(n.Value)))
		}
		add("binds %s", n.As)
	case *If:
		add("%s", short(argText(n.Cond)))
	case *Exec:
		d.text.exec(n, add)
	default:
		controlText(n, add)
		effectText(n, add)
		offerText(n, add)
		testingText(n, add)
	}
}

func (d *drawer) connect(in []port, to string) {
	for _, p := range in {
		d.out.edges = append(d.out.edges, edge{p.from, to, p.label, p.stroke})
	}
}

// framed draws with a border around it what do draws. If that is nothing, the step itself is drawn.
func (d *drawer) framed(s Step, label string, in []port, do func(in []port) []port) []port {
	outer := d.in
	d.frames++
	f := &frame{id: "g" + number(d.frames), label: label}
	d.in = f
	out := do(in)
	d.in = outer
	if len(f.parts) == 0 {
		return []port{{from: d.vertex(s, boxed, in)}}
	}
	d.in.parts = append(d.in.parts, f)
	return out
}

// list draws nodes, one after the other. in are the edges that lead to the first; those that lead on from the last are returned.
func (d *drawer) list(nodes []Node, in []port) []port {
	for _, n := range nodes {
		in = d.node(n, in)
	}
	return in
}

func (d *drawer) node(n Node, in []port) []port {
	switch n := n.(type) {
	case *Line:
		return d.list(n.Body, in)
	case *Prompt:
		return []port{{from: d.vertex(n.Step, turn, d.list(n.Body, in))}}
	case *Launch:
		return []port{{from: d.vertex(n.Step, turn, d.list(n.Body, in))}}
	case *Exec:
		return []port{{from: d.vertex(n.Step, boxed, in)}}
	case *If:
		id := d.vertex(n.Step, decision, in)
		then := d.list(n.Then, []port{{from: id, label: "true"}})
		return append(then, d.list(n.Else, []port{{from: id, label: "false"}})...)
	case *Each:
		return d.each(n, in)
	case *Loop:
		return d.loop(n, in)
	case *Break:
		id := d.vertex(n.Step, boxed, in)
		if d.breaks != nil {
			*d.breaks = append(*d.breaks, port{from: id})
		}
		return nil
	case *Parallel:
		return d.parallel(n, in)
	case *Try:
		return d.try(n, in)
	case *Fail:
		d.vertex(n.Step, terminal, in)
		return nil
	case *Return:
		d.connect([]port{{from: d.vertex(n.Step, boxed, in)}}, "end")
		return nil
	}
	return d.around(n, in)
}

// around draws what pins something for its body, or renders its body first.
func (d *drawer) around(n Node, in []port) []port {
	body := func(s Step, list []Node) []port {
		return d.framed(s, d.label(s), in, func(in []port) []port { return d.list(list, in) })
	}
	switch n := n.(type) {
	case *Agent:
		return body(n.Step, n.Body)
	case *Session:
		return body(n.Step, n.Body)
	case *Output:
		return body(n.Step, n.Body)
	case *Policy:
		return body(n.Step, n.Body)
	case *TempDir:
		return body(n.Step, n.Body)
	case *Component:
		return d.component(n, in)
	case *Content:
		id := d.vertex(n.Step, boxed, in)
		out := []port{{from: id}}
		for _, p := range d.list(n.Fallback, []port{{from: id, label: "no children"}}) {
			if p.from != id {
				out = append(out, p)
			}
		}
		return out
	case *Conversation:
		return body(n.Step, n.Body)
	case *Test:
		return body(n.Step, n.Body)
	case *TestAgent:
		return body(n.Step, n.Body)
	case *Tool:
		return d.tool(n, in)
	}
	if s, ok := stepOf(n); ok {
		return []port{{from: d.vertex(s, boxed, d.list(bodyOf(n), in))}}
	}
	return in
}

func (d *drawer) each(n *Each, in []port) []port {
	return d.framed(n.Step, d.title(n.Step), in, func(in []port) []port {
		head := d.vertex(n.Step, cycle, in)
		if n.Parallel.Given {
			ends := d.list(n.Body, []port{{from: head, label: "every item"}})
			return []port{{from: d.join(ends, "all items", join)}}
		}
		d.again(d.list(n.Body, []port{{from: head, label: "next item"}}), head)
		return []port{{from: head, label: "no item left"}}
	})
}

func (d *drawer) loop(n *Loop, in []port) []port {
	outer := d.breaks
	var breaks []port
	out := d.framed(n.Step, d.title(n.Step), in, func(in []port) []port {
		head := d.vertex(n.Step, cycle, in)
		d.breaks = &breaks
		d.again(d.list(n.Body, []port{{from: head, label: "next round"}}), head)
		return []port{{from: head, label: "after the last round"}}
	})
	d.breaks = outer
	return append(out, breaks...)
}

// again leads the ends of a round back to its head; a body without steps leads nowhere.
func (d *drawer) again(ends []port, head string) {
	for _, p := range ends {
		if p.from != head {
			d.connect([]port{p}, head)
		}
	}
}

func (d *drawer) parallel(n *Parallel, in []port) []port {
	return d.framed(n.Step, d.title(n.Step), in, func(in []port) []port {
		head := d.vertex(n.Step, fork, in)
		var ends []port
		for i, b := range n.Branches {
			ends = append(ends, d.node(b.Node, []port{{from: head, label: "branch " + number(i+1)}})...)
		}
		return []port{{from: d.join(ends, "all branches", join)}}
	})
}

func (d *drawer) try(n *Try, in []port) []port {
	return d.framed(n.Step, d.title(n.Step), in, func(in []port) []port {
		head := d.vertex(n.Step, fork, in)
		out := d.list(n.Body, []port{{from: head}})
		return append(out, d.list(n.Catch, []port{{from: head, label: "a failure", stroke: dashed}})...)
	})
}

// component draws a component file as one step, with the caller's children below.
func (d *drawer) component(n *Component, in []port) []port {
	draw := func(in []port) []port {
		out := d.list(n.Children, in)
		for _, slot := range sortedKeys(n.Slots) {
			out = d.list(n.Slots[slot], out)
		}
		return out
	}
	id := d.vertex(n.Step, file, in)
	out := draw([]port{{from: id, label: "children"}})
	if len(out) == 1 && out[0].from == id {
		return []port{{from: id}}
	}
	return out
}

// tool draws a Tool, whose body runs when an agent calls it.
func (d *drawer) tool(n *Tool, in []port) []port {
	id := d.vertex(n.Step, boxed, in)
	outer := d.breaks
	d.breaks = nil
	d.list(n.Body, []port{{from: id, label: "when called", stroke: dashed}})
	d.breaks = outer
	return []port{{from: id}}
}

// sessions draws the sessions that turns go to, in the order of their first turns.
func (d *drawer) sessions(items []Item) {
	type key struct {
		agent, session Use
		talk           string
		scope          string
	}
	ids := map[key]string{}
	all := &frame{id: "g0", label: "sessions"}
	for _, it := range items {
		if d.turns[it.ID] == "" {
			continue
		}
		k := key{it.Agent, it.Session, talkOf(it.Conversation), it.Scope}
		id, ok := ids[k]
		if !ok {
			id = "s" + number(len(ids)+1)
			ids[k] = id
			label := "session " + d.text.session(it) + "\nagent " + orDefault(it.Agent, "of the run")
			all.parts = append(all.parts, &vertex{id, label, cylinder})
		}
		d.out.edges = append(d.out.edges, edge{d.turns[it.ID], id, "", dotted})
	}
	if len(ids) > 0 {
		d.out.root.parts = append(d.out.root.parts, all)
	}
}
