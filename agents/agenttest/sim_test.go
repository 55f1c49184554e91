package agenttest

import "testing"

// The scripted agent passes the suite, well-behaved and with the habits of real agents that are no faults.
func TestSim(t *testing.T) {
	for _, target := range []Target{
		Sim(),
		Sim("noise-chunk", "unknown-updates", "late-update=info", "junk", "permission-always-first"),
		Sim("list-page", "replay-after-answer"),
		locking(Sim("lock")),
	} {
		t.Run(target.Name, func(t *testing.T) {
			t.Parallel()
			Run(t, target)
		})
	}
}

func locking(t Target) Target {
	t.Store.Locks = true
	return t
}

func TestSimKilled(t *testing.T) { Killed(t, Sim()) }

func TestSimContinues(t *testing.T) { Upgrade(t, Sim(), Sim("version=2.0.0"), Sim("version=later")) }
