package door

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// ShimCommand is the word after xmd that starts the shim.
const ShimCommand = "door-shim"

const (
	maxLine   = 64 << 20 // of the client; the door itself takes 4 MiB
	maxAnswer = 64 << 20
)

// ShimMain is `xmd door-shim`: it carries each line of stdin, a JSON-RPC message, to the door at address and each answer back as a line of
// stdout, until stdin ends, and gives the exit code: 0, 2 for an address that is not a door's or a key that is none, and 1 when stdout fails.
// The caller has taken address and key from the environment. stdin is not closed.
func ShimMain(ctx context.Context, address, key string, stdin io.Reader, stdout, stderr io.Writer) int {
	if err := checkAddress(address); err != nil {
		fmt.Fprintf(stderr, "xmd %s: %v\n", ShimCommand, err)
		return 2
	}
	if err := checkKey(key); err != nil {
		fmt.Fprintf(stderr, "xmd %s: %v\n", ShimCommand, err)
		return 2
	}
	s := newShim(ctx, address, key, stdout)
	s.read(stdin)
	s.end(nil)
	s.settle()
	if s.broken.Err() != nil {
		return 1
	}
	return 0
}

// settle waits for the lines at work, but not for a client that does not read.
func (s *shim) settle() {
	over := make(chan struct{})
	go func() { s.lines.Wait(); close(over) }()
	select {
	case <-over:
	case <-time.After(time.Second):
	}
	s.client.CloseIdleConnections()
}

// checkAddress takes http://127.0.0.1:PORT/mcp as xmd writes it, and nothing else that would be read as that.
func checkAddress(address string) error {
	port, after, ok := strings.Cut(strings.TrimPrefix(address, "http://127.0.0.1:"), "/")
	n, err := strconv.ParseUint(port, 10, 16)
	if ok && err == nil && n > 0 && after == path[1:] && address == "http://127.0.0.1:"+strconv.FormatUint(n, 10)+path {
		return nil
	}
	return fmt.Errorf("%s is %s, not http://127.0.0.1:PORT%s; xmd itself starts this command", EnvAddress, quoted(address), path)
}

// checkKey takes what a header can carry.
func checkKey(key string) error {
	if key == "" {
		return fmt.Errorf("%s is empty; xmd itself starts this command", EnvKey)
	}
	if strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return fmt.Errorf("%s is no key; xmd itself starts this command", EnvKey)
	}
	return nil
}

// quoted is text on one line, shortened.
func quoted(text string) string {
	if len(text) > 100 {
		text = text[:100] + "…"
	}
	return strconv.QuoteToASCII(text)
}

// shim is one client's connection to the door.
type shim struct {
	address, key string
	client       *http.Client
	ctx          context.Context // of all requests; ends with stdin
	end          context.CancelCauseFunc
	lines        sync.WaitGroup // one a line at work
	broken       context.Context
	breaks       context.CancelFunc // stdout failed

	write sync.Mutex
	out   io.Writer

	mu       sync.Mutex
	inFlight map[string]*carried // by the id of the request
}

// carried is a request on its way.
type carried struct{ cancel context.CancelCauseFunc }

func newShim(ctx context.Context, address, key string, stdout io.Writer) *shim {
	s := &shim{address: address, key: key, out: stdout, inFlight: map[string]*carried{}}
	s.ctx, s.end = context.WithCancelCause(ctx)
	s.broken, s.breaks = context.WithCancel(context.Background())
	dialer := net.Dialer{Timeout: 10 * time.Second}
	s.client = &http.Client{
		// No proxy, and no limit on how long an answer takes.
		Transport:     &http.Transport{DialContext: dialer.DialContext, DisableCompression: true, MaxIdleConnsPerHost: 16},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return s
}

// read takes the lines of stdin until it ends or nobody reads the answers.
func (s *shim) read(stdin io.Reader) {
	in := bufio.NewReaderSize(stdin, 64<<10)
	for s.broken.Err() == nil && s.ctx.Err() == nil {
		line, err := nextLine(in)
		switch {
		case errors.Is(err, errLong):
			s.say(errorMessage(nil, codeParse, "the line is over 64 MiB"))
		case len(line) > 0:
			s.line(line)
		}
		if err != nil && !errors.Is(err, errLong) {
			return
		}
	}
}

var errLong = errors.New("the line is too long")

// nextLine reads a line without the white space around it. A line over maxLine is skipped to its end, with errLong. The last line need not
// end.
func nextLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long && err == nil {
			err = errLong
		}
		return bytes.TrimSpace(line), err
	}
}

// line begins to carry one message.
func (s *shim) line(line []byte) {
	var m envelope
	switch {
	case !json.Valid(line):
		s.say(errorMessage(nil, codeParse, "the line is not JSON"))
		return
	case line[0] != '{' || !m.read(line):
		s.say(errorMessage(nil, codeRequest, "a line is one JSON-RPC message; there are no batches"))
		return
	case m.ID == nil && m.Method == "notifications/cancelled":
		// The end of its connection ends exactly this call. The notification itself could end another client's of the same id.
		s.cancel(callID(m.Params.RequestID))
		return
	case m.ID != nil && callID(m.ID) == "":
		s.say(errorMessage(nil, codeRequest, "an id is a string or a number"))
		return
	}
	s.carry(line, m)
}

// carry posts a message in the background and says its answer.
func (s *shim) carry(line []byte, m envelope) {
	ctx, cancel := context.WithCancelCause(s.ctx)
	request, id := &carried{cancel}, ""
	if m.Method != "" && m.ID != nil {
		id = callID(m.ID)
		if !s.begin(id, request) {
			cancel(nil)
			s.say(errorMessage(m.ID, codeRequest, "a request of this id is under way"))
			return
		}
	}
	s.lines.Add(1)
	go func() {
		defer s.lines.Done()
		defer cancel(nil)
		answer, err := s.post(ctx, line, m.ID)
		if id == "" || !s.over(id, request) {
			return // nobody waits for an answer
		}
		if err != nil {
			answer = errorMessage(m.ID, codeServer, err.Error())
		}
		if s.ctx.Err() == nil {
			s.say(answer)
		}
	}()
}

func (s *shim) begin(id string, request *carried) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inFlight[id] != nil {
		return false
	}
	s.inFlight[id] = request
	return true
}

// over says whether the request is still the one of that id, and no longer.
func (s *shim) over(id string, request *carried) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inFlight[id] != request {
		return false
	}
	delete(s.inFlight, id)
	return true
}

// cancel ends a request whose answer the client does not want any more.
func (s *shim) cancel(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if request := s.inFlight[id]; request != nil {
		request.cancel(errCancelled)
		delete(s.inFlight, id)
	}
}

// say writes one message as a line.
func (s *shim) say(message []byte) {
	s.write.Lock()
	defer s.write.Unlock()
	if _, err := s.out.Write(append(message, '\n')); err != nil {
		s.breaks()
		s.end(err)
	}
}

// post carries a message to the door and gives the answer to the request of that id on one line.
func (s *shim) post(ctx context.Context, message []byte, id json.RawMessage) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.address, bytes.NewReader(message))
	if err != nil {
		return nil, errors.New("the message cannot be carried to the workflow")
	}
	request.Header.Set("Authorization", "Bearer "+s.key)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	response, err := s.client.Do(request)
	if err != nil {
		return nil, errors.New("the workflow cannot be reached: its run is over")
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, errors.New("the workflow's answer broke off")
	case len(body) > maxAnswer:
		return nil, errors.New("the workflow's answer is over 64 MiB")
	}
	if line, ok := answerTo(id, body); ok {
		return line, nil
	}
	return nil, errors.New(statusMeaning(response.StatusCode))
}

// answerTo gives body as one line if it is the JSON-RPC answer to the request of that id.
func answerTo(id json.RawMessage, body []byte) (line []byte, ok bool) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &m) != nil || (m.Result == nil) == (m.Error == nil) || id == nil {
		return nil, false
	}
	if callID(m.ID) != callID(id) {
		return nil, false
	}
	var b bytes.Buffer
	if json.Compact(&b, body) != nil {
		return nil, false
	}
	return b.Bytes(), true
}

// statusMeaning says in words why there is no answer.
func statusMeaning(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "the workflow does not know this key: the agent's part in it is over (HTTP 401)"
	case http.StatusRequestEntityTooLarge:
		return "the message is over 4 MiB (HTTP 413)"
	case http.StatusServiceUnavailable:
		return "the workflow's run is over (HTTP 503)"
	}
	return fmt.Sprintf("the workflow gave no answer (HTTP %d)", status)
}
