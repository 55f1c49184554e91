package store_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"testing"

	"xmd/runtime/store"
)

// addFiles adds the files of a folder as seeds.
func addFiles(f *testing.F, pattern string) {
	f.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) == 0 {
		f.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
}

var hexDigest = regexp.MustCompile(`^[0-9a-f]{64}$`)

// FuzzRoute: whatever stands where a route is stored is a route in its one form, or state that cannot be accounted for; it is never
// nearly one. What was read is written again so that it reads the same, and under another key or sum it is nothing.
func FuzzRoute(f *testing.F) {
	addFiles(f, "testdata/routes/*.json")
	f.Add([]byte(`{"schema":"session-route.v1","agent":"a","session":"s","root":"/r","generation":1,"transport":"acp","nativeSessionId":"\ud800","provenance":"provider-asserted","createdAt":"2026-03-01T12:00:00.5Z"}`))
	f.Fuzz(func(t *testing.T, record []byte) {
		var key store.Key
		_ = json.Unmarshal(record, &key) // without one nothing is found
		text := string(record)
		r, err := store.DecodeRoute(key, text, store.SumOf(text))
		if err != nil {
			if !errors.Is(err, store.ErrUnaccountable) {
				t.Fatalf("%v is no error that says so", err)
			}
			return
		}
		if r.NativeSessionID == "" || r.CreatedAt.IsZero() || !filepath.IsAbs(r.Root) || !r.SessionKey().Named() || r.Generation < 1 {
			t.Fatalf("it was read as %+v", r)
		}
		if e := r.Established; e != nil && (*e == store.Established{} || e.Digest != "" && r.Established.Version == "" && !hexDigest.MatchString(e.Digest)) {
			t.Fatalf("established is %+v", e)
		}
		again, sum, err := store.EncodeRoute(r)
		if err != nil {
			t.Fatal(err)
		}
		same, err := store.DecodeRoute(key, again, sum)
		if err != nil || !reflect.DeepEqual(same, r) {
			t.Fatalf("%+v became %+v, %v", r, same, err)
		}
		var unmarshalled store.Route
		if err := json.Unmarshal(record, &unmarshalled); err != nil || !reflect.DeepEqual(unmarshalled, r) {
			t.Fatalf("as JSON it is %+v, %v", unmarshalled, err)
		}
		other := key
		other.Generation++
		if _, err := store.DecodeRoute(other, text, store.SumOf(text)); !errors.Is(err, store.ErrUnaccountable) {
			t.Fatalf("under another key: %v", err)
		}
		if _, err := store.DecodeRoute(key, text, store.SumOf(text+" ")); !errors.Is(err, store.ErrUnaccountable) {
			t.Fatalf("with another sum: %v", err)
		}
	})
}

// FuzzBinding: what older builds and other programs recorded of an agent's build is a version token and a SHA-256, nothing, or an error.
func FuzzBinding(f *testing.F) {
	digest := `"` + oldDigest + `"`
	for _, s := range []string{
		`{"schema":"executable-build.v1"}`, `{"schema":"executable-build.v1","reportedVersion":"codex-cli 0.153.2","executableDigest":` + digest + `}`,
		`{"schema":"executable-build.v1","executableDigest":{"algorithm":"sha256","value":` + digest + `}}`, `{"schema":"executable-build.v1"}}`,
		`{"schema":"executable-build.v1"} {}`, `{"Schema":"executable-build.v1"}`, `{"schema":"executable-build.v1","schema":"executable-build.v1"}`, `null`, `[]`, `{`, ``,
		`{"schema":"executable-build.v1","reportedVersion":"1.0\u0000\ud800"}`, `{"schema":"executable-build.v1","executableDigest":null}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		est, err := store.ReadBinding(data)
		if err != nil {
			if !errors.Is(err, store.ErrUnaccountable) || est != nil {
				t.Fatalf("%+v, %v", est, err)
			}
			return
		}
		if !json.Valid(data) {
			t.Fatalf("%q is no JSON and was read", data)
		}
		if est != nil && (*est == store.Established{} || est.Digest != "" && !hexDigest.MatchString(est.Digest)) {
			t.Fatalf("it was read as %+v", est)
		}
	})
}

// FuzzMoved: where a session was moved to is a clean absolute path, or cannot be accounted for.
func FuzzMoved(f *testing.F) {
	for _, s := range []string{`{"from":"/a","to":"/b"}`, `{"to":"/b/.."}`, `{"to":"b"}`, `{"to":"/"}`, `{"to":"/b"}{}`, `{"to":"/b"}}`, `{"to":"/b","x":1}`, `null`, ``} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, data string) {
		to, err := store.MovedTo(data)
		if err == nil && (!filepath.IsAbs(to) || filepath.Clean(to) != to || !json.Valid([]byte(data))) {
			t.Fatalf("%q is read as a move to %q", data, to)
		}
	})
}
