package main

import (
	"os/exec"
	"testing"
)

// What is typed at a prompt is completed there, word breaks and quotes included.
func TestCompletionAtAPrompt(t *testing.T) {
	for shell, args := range map[string][]string{"bash": {"--norc", "--noprofile", "-i"}, "zsh": {"-f", "-i"}} {
		t.Run(shell, func(t *testing.T) {
			program, err := exec.LookPath(shell)
			if err != nil {
				t.Skipf("there is no %s here", shell)
			}
			h := completing(t)
			d := h.sitAt(exec.Command(program, args...), []string{"PS1=$ ", "PROMPT=$ "})
			d.Await("$ ")
			if shell == "zsh" {
				d.types("autoload -U compinit; compinit -D -u; unsetopt prompt_sp zle_bracketed_paste; setopt no_list_beep; bindkey -e; echo r''eady")
				d.Await("ready\r\n")
			}
			d.types("bind 'set enable-bracketed-paste off' 2>/dev/null; source <(xmd completion " + shell + "); echo l''oaded")
			d.Await("loaded\r\n")
			for _, c := range []struct{ typed, want string }{
				{"xmd vers\t", "xmd dev"},
				{"xmd plan doc.x\t", "Elicit"},
				{"xmd run my\t", "hello"},
				{"xmd run 'my\t", "hello"},
				{"xmd run doc.xmd#F\t --format=nd\t", "run.ended"},
				{"xmd agents --format=js\t scr\t", `"scribe"`},
				{"xmd sessions show sim:\t", "established"},
			} {
				d.Type(c.typed)
				d.Type("\r")
				d.Await(c.want)
				d.Await("$ ")
			}
			d.types("exit")
		})
	}
}
