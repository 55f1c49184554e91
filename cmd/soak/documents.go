//go:build linux

package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// document is one that a life runs. Each prompt in it holds a token that no other prompt of the soak holds, and each exec block writes one
// into ran.txt, so that what happened can be counted outside of xmd.
type document struct {
	name  string
	text  string
	want  []string       // lines of stdout, in this order, when no reply was adopted or skipped
	execs map[string]int // token of a block to the line its fence begins at
	word  string         // the codeword that stdout must hold; "": none
}

// script is what both scripted agents answer by: at once, slowly, with an action, at length, and through the door.
func script() string {
	long := strings.Repeat("one line of a long answer that is captured and told again\n", 300)
	return `<WhenPrompt template="quick {?what}">
<Say>done {what}</Say>
</WhenPrompt>
<WhenPrompt template="slow {?what}">
<Thought>thinking about it</Thought>
<Wait ms={60} />
<Say chunks={4}>done {what}</Say>
<Wait ms={40} />
</WhenPrompt>
<WhenPrompt template="act {?what}">
<ToolCall kind="read" title="Read a file">what is in it</ToolCall>
<Wait ms={50} />
<Say chunks={2}>done {what}</Say>
</WhenPrompt>
<WhenPrompt template="long {?what}">
<Say chunks={40}>done {what}
` + long + `</Say>
</WhenPrompt>
<WhenPrompt template="use {?what}">
<CallTool name="note" args={{"what": "a"}} as="got" />
<Wait ms={30} />
<Say>done {what} {got}</Say>
</WhenPrompt>
`
}

var token = regexp.MustCompile(`\b[qe]\d+\.L\d+\.d\d+(?:\.\w+)?\b`)

// writer makes the text of one document.
type writer struct {
	rng   *rand.Rand
	life  string
	doc   int
	lines []string
	n     int
	d     document
}

func (w *writer) add(lines ...string) {
	w.lines = append(w.lines, strings.Split(strings.Join(lines, "\n"), "\n")...)
}

func (w *writer) token(kind string) string {
	w.n++
	return fmt.Sprintf("%s%d.%s.d%d", kind, w.n, w.life, w.doc)
}

func (w *writer) want(line string) { w.d.want = append(w.d.want, line) }

// words is a way to ask, by chance.
func (w *writer) words(token string) string {
	return []string{"quick ", "slow ", "slow ", "act "}[w.rng.IntN(4)] + token
}

func (w *writer) agent() string { return []string{"sim", "two"}[w.rng.IntN(2)] }

// prompt is one whose reply stands in the text.
func (w *writer) prompt(agent, session string) {
	t := w.token("q")
	if session != "" {
		session = fmt.Sprintf(" session=%q", session)
	}
	w.add(fmt.Sprintf("<Prompt agent=%q%s>%s</Prompt>", agent, session, w.words(t)))
	w.want("done " + t)
}

// exec is a block that says in ran.txt that it ran.
func (w *writer) exec(more ...string) {
	t := w.token("e")
	if w.d.execs == nil {
		w.d.execs = map[string]int{}
	}
	w.d.execs[t] = len(w.lines) + 1
	w.add("```sh exec")
	w.add(append(more, "echo "+t+" >> ran.txt", fmt.Sprintf("sleep 0.%02d", w.rng.IntN(20)), "echo out "+t, "```")...)
	w.want("out " + t)
}

// parts are what documents are made of.
var parts = map[string]func(w *writer){
	"loop": func(w *writer) {
		t := w.token("q")
		w.add("<Loop max={3}>", `<Prompt agent="`+w.agent()+`" session="s">slow `+t+`.{loop.index}</Prompt>`, "</Loop>")
		for i := 1; i <= 3; i++ {
			w.want(fmt.Sprintf("done %s.%d", t, i))
		}
	},
	"parallel": func(w *writer) {
		w.add("<Parallel>")
		for i := range 3 + w.rng.IntN(4) {
			switch w.rng.IntN(4) {
			case 0:
				w.exec()
			case 1:
				w.prompt(w.agent(), "")
			default:
				w.prompt(w.agent(), fmt.Sprintf("p%d", i))
			}
		}
		w.add("</Parallel>")
	},
	"each": func(w *writer) {
		t := w.token("q")
		w.add(`<Each in={["a", "b", "c"]} let="x" as="all" collect={r} parallel={3}>`, `<Prompt agent="`+w.agent()+`" session={"e" + x} as="r">slow `+t+`.{x}</Prompt>`,
			"</Each>", "<Json value={all} />")
		for _, x := range []string{"a", "b", "c"} {
			w.want(fmt.Sprintf("  \"done %s.%s\"", t, x))
		}
	},
	"exec": func(w *writer) { w.exec(); w.prompt(w.agent(), "s"); w.exec() },
	"tool": func(w *writer) {
		inner, t := w.token("q"), w.token("q")
		e := w.token("e")
		w.add(`<Tool name="note" schema={{"type": "object", "properties": {"what": {"type": "string"}}}}>`)
		if w.d.execs == nil {
			w.d.execs = map[string]int{}
		}
		w.d.execs[e] = len(w.lines) + 1
		w.add("```sh exec silent", "echo "+e+" >> ran.txt", "sleep 0.05", "```", `<Prompt agent="two" session="inner">slow `+inner+`</Prompt>`, "</Tool>",
			`<Prompt agent="sim" session="s">use `+t+`</Prompt>`)
		w.want("done " + t) // and what the tool said: its block may have been killed, which the agent is told
	},
	"talk": func(w *writer) {
		w.add(fmt.Sprintf(`<Conversation name="talk%d">`, w.doc))
		for _, agent := range []string{"sim", "two", "sim", "two"} {
			w.prompt(agent, "")
		}
		w.add("</Conversation>")
	},
	"capture": func(w *writer) {
		t, e := w.token("q"), w.token("q")
		w.add(`<TempDir as="dir">`)
		w.add("```sh exec with=\"dir\" silent", "echo kept > \"$dir/kept\"", "```")
		w.add(`<Prompt agent="sim" session="s" as="r">long `+t+`</Prompt>`, "</TempDir>", "<Let as=\"n\" value={len(r) > 10000} />", "long: {n}",
			`<File path="`+t+`.txt">{r}</File>`, `<If condition={r startsWith "done"}>it is done</If>`)
		w.add("<Try>", `<Prompt agent="two" session="s" throwOnError>`+w.words(e)+"</Prompt>", `<Catch as="c">caught {c.kind}</Catch>`, "</Try>")
		w.want("long: true")
		w.want("it is done")
	},
	"spawn": func(w *writer) {
		how := []string{"plain", "setsid", "setsid+stubborn", "stubborn"}[w.rng.IntN(4)]
		w.add(`<Prompt agent="` + w.agent() + `" session="s">SPAWN ` + how + "</Prompt>")
		w.want("spawned")
		w.prompt("sim", "s")
	},
}

// partNames are the parts in an order of their own, so that a seed chooses the same ones everywhere.
var partNames = []string{"loop", "parallel", "each", "exec", "tool", "talk", "capture", "spawn"}

// documents are those of one life: the first tells a codeword, the last asks for it.
func documents(rng *rand.Rand, life string) []document {
	word := fmt.Sprintf("ZEBRA%d", rng.IntN(1e6))
	n := 1 + rng.IntN(3)
	list := make([]document, 0, n)
	for i := 1; i <= n; i++ {
		w := &writer{rng: rng, life: life, doc: i, d: document{name: fmt.Sprintf("doc%d.xmd", i)}}
		w.add("begin")
		if i == 1 {
			w.add(`<Prompt agent="sim" session="s">Remember that the codeword is ` + word + ". " + w.token("q") + "</Prompt>")
		}
		for _, n := range rng.Perm(len(partNames))[:1+rng.IntN(3)] {
			parts[partNames[n]](w)
		}
		if i == n {
			w.add(`<Prompt agent="sim" session="s">What is the codeword? ` + w.token("q") + "</Prompt>")
			w.d.word = "The codeword is " + word + "."
		}
		w.add("the end")
		w.want("the end")
		w.d.text = strings.Join(w.lines, "\n") + "\n"
		list = append(list, w.d)
	}
	return list
}
