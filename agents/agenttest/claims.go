package agenttest

// differing is something that was said of an agent, by the documents that the project began with, and that a test saw to be otherwise. It is
// on the page only for the versions for which that test passed in the run.
type differing struct {
	Row
	versions []string
	column   column
	said     string
	seen     string
	test     string // whose subtest of the version
	within   string // or what is inside that; "": itself
}

const (
	saidDeclined = "a call that is declined shows as not run; nothing of an end of the turn"
	seenDeclined = "a refusal ends the agent's turn"
	saidKept     = "it keeps its conversations on disk, so that a new process can load one"
	saidIdentity = "its adapter states no identity that lasts"
	seenIdentity = "another id in the conversation's file is noticed: the load fails, or it states that other id"
)

var claims = []differing{
	{kinds[0].Row, codexVersions, colDamaged, saidIdentity, seenIdentity, "TestRealCodexServer", "/other_id"},
	{kinds[1].Row, codexVersions, colReject, saidDeclined, seenDeclined, "TestRealCodex", "/permission/refused"},
	{kinds[1].Row, codexVersions, colDamaged, saidIdentity, seenIdentity, "TestRealCodex", "/other_id"},
	{kinds[3].Row, kinds[3].versions, colLoad, saidKept, "a load leaves a second file, for which Gemini's own clean-up deletes the conversation at its next start; " +
		"it is kept because xmd takes that file away", "TestRealGeminiKeeps", ""},
	{kinds[4].Row, kinds[4].versions, colReject, saidDeclined, seenDeclined, "TestRealSpeaking", "/permission/refused"},
	{kinds[5].Row, kinds[5].versions, colReject, saidDeclined, seenDeclined, "TestRealSpeaking", "/permission/refused"},
	{kinds[5].Row, kinds[5].versions, colDamaged, "an agent that has loaded another conversation says so", "its answer to a load repeats the id that it was " +
		"asked for, whatever the files hold; only its list tells", "TestRealSpeaking", "/other_id"},
	{kinds[5].Row, kinds[5].versions, colDamaged, "an emptied history under the same id can be told from the conversation", "it replays turns that its model " +
		"is no longer given: identity and history are right, and the memory is gone", "TestRealGrokForgets", ""},
	{kinds[6].Row, kinds[6].versions, colReject, saidDeclined, seenDeclined, "TestRealSpeaking", "/permission/refused"},
}
