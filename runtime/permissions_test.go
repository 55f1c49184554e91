package runtime_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"xmd/runtime"
)

// asking is an agent that asks for one thing and tells the answer.
func asking(b *bench, req runtime.PermissionRequest) {
	b.agents["fake"].onPrompt = func(turn runtime.Turn) (runtime.TurnResult, error) {
		ok := turn.Ask(context.Background(), req)
		turn.Sink(runtime.Update{Kind: runtime.UpdatePermission, Permission: &runtime.PermissionOutcome{Request: req, Allowed: ok}})
		turn.Sink(runtime.Update{Kind: runtime.UpdateMessage, Accepts: true, Text: fmt.Sprint(ok)})
		return runtime.TurnResult{Stop: "end_turn"}, nil
	}
}

func TestPolicyComponents(t *testing.T) {
	run := func(cmd string) runtime.PermissionRequest {
		return runtime.PermissionRequest{Kind: "execute", Title: cmd, Command: cmd}
	}
	edit := func(path string) runtime.PermissionRequest {
		return runtime.PermissionRequest{Kind: "edit", Title: "Edit files", Paths: []string{path}}
	}
	read := runtime.PermissionRequest{Kind: "read", Paths: []string{"a"}}
	const p = `<Prompt text="x"/>`
	const none, ask, reads, all, denyAll = runtime.Policy(""), runtime.PolicyAsk, runtime.PolicyApproveReads, runtime.PolicyAllowAll, runtime.PolicyDenyAll
	for _, c := range []struct {
		doc  string
		flag runtime.Policy
		req  runtime.PermissionRequest
		want string // true, false, asked
	}{
		{p, none, read, "true"}, {p, none, run("ls"), "asked"}, {p, all, run("ls"), "true"}, {p, denyAll, read, "false"},
		{"<ApproveAll>" + p + "</ApproveAll>", none, run("ls"), "true"},
		{"<ApproveReads>" + p + "</ApproveReads>", none, read, "true"},
		{"<AskPermission>" + p + "</AskPermission>", none, read, "asked"},
		{"<DenyAll>" + p + "</DenyAll>", none, read, "false"},
		// the innermost counts
		{"<DenyAll><ApproveAll>" + p + "</ApproveAll></DenyAll>", none, run("ls"), "true"},
		{"<ApproveAll><DenyAll>" + p + "</DenyAll></ApproveAll>", none, run("ls"), "false"},
		{"<DenyAll></DenyAll>" + p, none, read, "true"},
		// with a flag the stricter word counts
		{"<ApproveAll>" + p + "</ApproveAll>", ask, run("ls"), "asked"},
		{"<ApproveAll>" + p + "</ApproveAll>", reads, run("ls"), "asked"},
		{"<ApproveAll>" + p + "</ApproveAll>", denyAll, run("ls"), "false"},
		{"<AskPermission>" + p + "</AskPermission>", all, run("ls"), "asked"},
		{"<DenyAll>" + p + "</DenyAll>", all, run("ls"), "false"},
		{"<DenyAll>" + p + "</DenyAll>", ask, run("ls"), "false"},
		{"<ApproveAll>" + p + "</ApproveAll>", all, run("ls"), "true"},
		// lists
		{`<Permissions deny="execute" allow="edit">` + p + `</Permissions>`, none, run("ls"), "false"},
		{`<Permissions deny="execute" allow="edit">` + p + `</Permissions>`, none, edit("a"), "true"},
		{`<Permissions deny="execute" allow="edit">` + p + `</Permissions>`, none, read, "true"},
		{`<Permissions deny="execute">` + p + `</Permissions>`, none, edit("a"), "asked"},
		{`<Permissions deny="execute">` + p + `</Permissions>`, all, edit("a"), "true"},
		{`<ApproveAll><Permissions deny="execute:rm *">` + p + `</Permissions></ApproveAll>`, none, run("rm -rf $HOME"), "false"},
		{`<ApproveAll><Permissions deny="execute:rm *">` + p + `</Permissions></ApproveAll>`, none, run("ls; rm x"), "false"},
		{`<ApproveAll><Permissions deny="execute:rm *">` + p + `</Permissions></ApproveAll>`, none, run("ls"), "true"},
		{`<Permissions allow={["execute:git *", "execute:npm test"]} deny="execute:git push*">` + p + `</Permissions>`, none, run("git log -1"), "true"},
		{`<Permissions allow={["execute:git *", "execute:npm test"]} deny="execute:git push*">` + p + `</Permissions>`, none, run("git push -f"), "false"},
		{`<Permissions allow={["execute:git *", "execute:npm test"]}>` + p + `</Permissions>`, none, run("npm test"), "true"},
		{`<Permissions allow="execute:git *">` + p + `</Permissions>`, none, run("git log; rm x"), "asked"},
		{`<Permissions allow="execute:git *">` + p + `</Permissions>`, ask, run("git log"), "asked"},
		{`<Permissions allow="execute:git *">` + p + `</Permissions>`, none, runtime.PermissionRequest{Kind: "execute", Title: "git log", Subject: "git log"}, "asked"},
		{`<DenyAll><Permissions allow="edit:src/**">` + p + `</Permissions></DenyAll>`, none, edit("src/a/b.go"), "true"},
		{`<DenyAll><Permissions allow="edit:src/**">` + p + `</Permissions></DenyAll>`, none, edit("ROOT/src/a.go"), "true"},
		{`<DenyAll><Permissions allow="edit:ROOT/src/*">` + p + `</Permissions></DenyAll>`, none, edit("src/a.go"), "true"},
		{`<DenyAll><Permissions allow="edit:src/**">` + p + `</Permissions></DenyAll>`, none, edit("src/../etc/x"), "false"},
		{`<DenyAll><Permissions allow="edit:src/**">` + p + `</Permissions></DenyAll>`, none, edit("src/out/x"), "false"},
		{`<DenyAll><Permissions allow="edit:**">` + p + `</Permissions></DenyAll>`, none, edit("/etc/passwd"), "false"},
		{`<DenyAll><Permissions allow="edit:src/**">` + p + `</Permissions></DenyAll>`, none, runtime.PermissionRequest{Kind: "edit", Title: "src/a", Subject: "src/a"}, "false"},
		{`<DenyAll><Permissions allow="edit:src/**">` + p + `</Permissions></DenyAll>`, none, runtime.PermissionRequest{Kind: "edit", Paths: []string{"src/a", "b"}}, "false"},
		{`<DenyAll><Permissions allow="edit">` + p + `</Permissions></DenyAll>`, none, runtime.PermissionRequest{Title: "edit"}, "false"},
		{`<ApproveAll><Permissions deny="read:**/.env">` + p + `</Permissions></ApproveAll>`, none, runtime.PermissionRequest{Kind: "read", Paths: []string{"a/.env"}}, "false"},
		{`<ApproveAll><Permissions deny="read:.env">` + p + `</Permissions></ApproveAll>`, none, runtime.PermissionRequest{Kind: "read", Paths: []string{"a", "a/.env"}}, "false"},
		{`<ApproveAll><Permissions deny="edit:src/out/**">` + p + `</Permissions></ApproveAll>`, none, edit("src/out/x"), "false"},
		{`<DenyAll><Permissions allow="fetch:https://example.com/**">` + p + `</Permissions></DenyAll>`, none, runtime.PermissionRequest{Kind: "fetch", Paths: []string{"https://example.com/a/b"}}, "true"},
		{`<DenyAll><Permissions allow="fetch:https://example.com/**">` + p + `</Permissions></DenyAll>`, none, runtime.PermissionRequest{Kind: "fetch", Paths: []string{"https://example.com@evil.example/a"}}, "false"},
		// outer lists count for what the inner ones leave open
		{`<Permissions deny="execute:rm *"><Permissions allow="execute:git *">` + p + `</Permissions></Permissions>`, none, run("rm x"), "false"},
		{`<Permissions deny="execute"><ApproveAll>` + p + `</ApproveAll></Permissions>`, none, run("ls"), "true"},
	} {
		b := newBench(t)
		out := t.TempDir()
		b.write("src/a.go", "")
		if err := os.Symlink(out, filepath.Join(b.dir, "src/out")); err != nil {
			t.Fatal(err)
		}
		req := c.req
		req.Paths = append([]string(nil), req.Paths...)
		for i := range req.Paths {
			req.Paths[i] = strings.ReplaceAll(req.Paths[i], "ROOT", b.dir)
		}
		asking(b, req)
		asked := false
		b.opts = func(o *runtime.Options) {
			o.Policy = c.flag
			o.Ask = func(context.Context, string, string, runtime.PermissionRequest) (bool, string) {
				asked = true
				return false, "no"
			}
		}
		r := b.flow(strings.ReplaceAll(c.doc, "ROOT", b.dir))
		got := r.out
		if asked {
			got = "asked"
		}
		if got != c.want || r.err != nil {
			text, _ := json.Marshal(c.req)
			t.Errorf("%s with %q on %s: %s, want %s (%v)", c.doc, c.flag, text, got, c.want, r.err)
		}
	}
}

func TestPermissionsAreChecked(t *testing.T) {
	for _, c := range []struct {
		what  string
		value any
		want  string
	}{
		{"deny", "shell", `deny: there is no kind of permission "shell"; kinds are read, edit`},
		{"allow", "execute:", `allow: nothing stands behind the colon of "execute:"`},
		{"allow", []any{"edit:[a"}, `is malformed`},
		{"allow", int64(1), `allow must be a string or an array of strings, and has a number`},
	} {
		b := newBench(t)
		b.props = map[string]any{"v": c.value}
		if r := b.flow(given(`<Permissions `+c.what+`={props.v}>x</Permissions>`, "v")); r.out != "" || !says(r.err, c.want) {
			t.Errorf("%s=%v: %q, %v", c.what, c.value, r.out, r.err)
		}
	}
}

// With nobody to ask, ask is no, and the reason says what would allow it.
func TestNobodyToAsk(t *testing.T) {
	b := newBench(t)
	b.agents["fake"].info.RejectEnds = true
	asking(b, runtime.PermissionRequest{Kind: "execute", Command: "ls", Subject: "ls"})
	b.opts = func(o *runtime.Options) { o.Policy = "" }
	r := b.flow(`<Prompt as="x" text="x"/>`)
	if !says(r.err, `execute "ls" (nobody is present to ask; allow it with --approve-all or a policy in the document)`) {
		t.Error(r.err)
	}
	r = b.flow(`<DenyAll><Prompt as="x" text="x"/></DenyAll>`)
	if !says(r.err, "(the document denies it)") {
		t.Error(r.err)
	}
}
