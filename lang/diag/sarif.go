package diag

import (
	"encoding/json"
	"io"
	"net/url"
	"strings"
)

// FileDiagnostics is what was found in one document and in the files that it uses.
type FileDiagnostics struct {
	Source *Source // of the diagnostics that name none
	List   List
}

// The shapes of SARIF 2.1.0, as far as they are written. Fields are written in this order.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string       `json:"id"`
		Short *sarifText   `json:"shortDescription,omitempty"`
		Level *sarifConfig `json:"defaultConfiguration,omitempty"`
	}
	sarifConfig struct {
		Level string `json:"level"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId,omitempty"`
		RuleIndex *int            `json:"ruleIndex,omitempty"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations"`
		Related   []sarifLocation `json:"relatedLocations,omitempty"`
	}
	sarifLocation struct {
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   sarifRegion   `json:"region"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
)

// WriteSARIF writes diagnostics as a SARIF 2.1.0 log of one run of xmd, indented by two spaces: the same diagnostics give the same bytes.
// Names of sources become URIs, relative ones if the names are; columns count code points. Of the rules, those that a diagnostic has
// the code of are listed, in the order of rules; a hint stands behind the message. The first write error is returned.
func WriteSARIF(w io.Writer, version string, files []FileDiagnostics, rules []Code) error {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "xmd", Version: version, Rules: []sarifRule{}}
	index := run.Tool.Driver.list(files, rules)
	for _, f := range files {
		for i := range f.List {
			run.Results = append(run.Results, sarifOf(f.Source, &f.List[i], index))
		}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(sarifLog{"https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// list notes the rules that diagnostics speak of, and returns the index of each.
func (d *sarifDriver) list(files []FileDiagnostics, rules []Code) map[string]int {
	used := map[string]bool{}
	for _, f := range files {
		for _, each := range f.List {
			used[each.Code] = each.Code != ""
		}
	}
	index := map[string]int{}
	for _, r := range rules {
		if _, twice := index[r.Code]; twice || !used[r.Code] {
			continue
		}
		level := "error"
		title, isWarning := strings.CutPrefix(r.Title, "warning: ")
		if isWarning {
			level = "warning"
		}
		index[r.Code] = len(d.Rules)
		d.Rules = append(d.Rules, sarifRule{r.Code, &sarifText{title}, &sarifConfig{level}})
	}
	return index
}

func sarifOf(src *Source, d *Diagnostic, index map[string]int) sarifResult {
	out := sarifResult{RuleID: d.Code, Level: d.Severity.String(), Message: sarifText{d.Summary}}
	if i, ok := index[d.Code]; ok {
		out.RuleIndex = &i
	}
	if d.Hint != "" {
		out.Message.Text += "\nhint: " + d.Hint
	}
	out.Locations = []sarifLocation{{Physical: d.In(src).sarif(d.Span)}}
	for i := range d.Related {
		r := &d.Related[i]
		out.Related = append(out.Related, sarifLocation{r.In(src).sarif(r.Span), &sarifText{r.Summary}})
	}
	return out
}

// sarif returns a place as SARIF has it.
func (s *Source) sarif(at Span) sarifPhysical {
	p := sarifPhysical{Artifact: sarifArtifact{fileURI(s.Name)}}
	p.Region.StartLine, p.Region.StartColumn = s.Pos(at.Start)
	p.Region.EndLine, p.Region.EndColumn = s.Pos(max(at.End, at.Start))
	return p
}

// fileURI returns the URI of a file: a relative one stays relative, without ./ before it.
func fileURI(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	for strings.HasPrefix(name, "./") {
		name = strings.TrimLeft(name[2:], "/")
	}
	switch {
	case strings.HasPrefix(name, "/"):
		return (&url.URL{Scheme: "file", Path: name}).String()
	case len(name) > 2 && name[1] == ':' && name[2] == '/': // a drive
		return (&url.URL{Scheme: "file", Path: "/" + name}).String()
	}
	return (&url.URL{Path: name}).String()
}
