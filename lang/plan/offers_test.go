package plan_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"xmd/lang"
	"xmd/lang/plan"
)

// TestOffers: what a run offers is that of all its documents, each name once, with its first place.
func TestOffers(t *testing.T) {
	files := fileMap{
		"components/A.xmd": "<Tool name=\"a\">x</Tool>\n<Mcp name=\"m\" command=\"m\"/><Instructions>i</Instructions><B/>",
		"components/B.xmd": "<Tool name=\"b\"><Tool name=\"deep\">y</Tool><Prompt text=\"x\"/></Tool><Mcp name=\"m\"\ncommand=\"m\"/><Prompt text=\"x\"/>",
	}
	doc, _ := lang.Parse("main.xmd", "<A/>\n<Tool name=\"a\">x</Tool>\n<Mcp name={run.id} command=\"n\"/><Mcp name={run.id} command=\"n\"/><B/>")
	p, list := plan.Compiler{Files: files}.Compile(doc)
	if p == nil {
		t.Fatal(list)
	}
	var got []string
	for _, u := range p.Tools() {
		got = append(got, u.Name+" "+u.Source.At(u.Pos.Start))
	}
	for _, u := range p.Servers() {
		got = append(got, fmt.Sprint(u.Name.Literal, " ", u.Source.At(u.Pos.Start)))
	}
	for _, u := range p.Instructions() {
		got = append(got, u.Source.At(u.Pos.Start))
	}
	want := []string{"a main.xmd:2:1", "b components/B.xmd:1:1", "deep components/B.xmd:1:16",
		" main.xmd:3:1", " main.xmd:3:33", "m components/A.xmd:2:1", "components/A.xmd:2:28"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// TestOfferDigest: all that agents are told of, and what is done for them, is part of the digest.
func TestOfferDigest(t *testing.T) {
	base := "<Tool name=\"a\" description=\"d\" schema={{\"type\": \"object\"}} timeout=\"1s\">x</Tool><Mcp name=\"m\" url=\"https://x.example\" headers={{\"A\": \"b\"}}/>" +
		"<Mcp name=\"n\" command=\"c\" args={[\"1\"]} env={{\"A\": \"b\"}}/><Instructions>i</Instructions><Conversation name=\"t\"><Prompt text=\"x\"/></Conversation>"
	digest := compile(t, "a.xmd", base).Digest
	if compile(t, "a.xmd", strings.ReplaceAll(base, "><", ">{/* c */}<")).Digest != digest {
		t.Error("comments change the digest")
	}
	for _, change := range [][2]string{{`name="a"`, `name="b"`}, {`"d"`, `"e"`}, {`"object"}`, `"object", "title": "t"}`}, {"1s", "2s"}, {">x<", ">y<"}, {`name="m"`, `name="o"`},
		{"x.example", "y.example"}, {`"A": "b"}}/><Mcp`, `"A": "c"}}/><Mcp`}, {`"c"`, `"d"`}, {`["1"]`, `["2"]`}, {`env={{"A"`, `env={{"B"`}, {">i<", ">j<"},
		{`name="t"`, `name="t" onLost="restart"`}, {`name="t"`, `name="u"`}} {
		if compile(t, "a.xmd", strings.Replace(base, change[0], change[1], 1)).Digest == digest {
			t.Errorf("%s for %s does not change the digest", change[1], change[0])
		}
	}
	if compile(t, "a.xmd", strings.Replace(base, `name="t"`, `name="t" onLost="fail"`, 1)).Digest != digest {
		t.Error("what is so anyway changes the digest")
	}
}

// TestToolScopes: a call is a scope of its own, wherever its Tool stands.
func TestToolScopes(t *testing.T) {
	p := compile(t, "a.xmd", `<Session name="s"><Conversation name="c"><Tool name="t"><Prompt agent="x" text="a"/></Tool><Prompt agent="x" text="b"/></Conversation></Session>`)
	var got []string
	for _, s := range p.Sessions() {
		talk := ""
		if s.Conversation != nil {
			talk = s.Conversation.Name.Literal
		}
		got = append(got, s.Session.String()+"/"+s.Scope+"/"+talk)
	}
	if want := []string{"/Session1/body/Conversation1/body/Tool1/", "//c"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
