package door

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Who has no key cannot hold a connection: not with a body that never comes, nor with a next request that never begins. Who has one is not
// waited for longer than a body takes.
func TestSlowClients(t *testing.T) {
	o := open(t, echo, review)
	o.door.bodyWait = 50 * time.Millisecond
	host := o.pass.host
	key := ""
	for _, h := range o.pass.Server().Headers {
		key += h.Name + ": " + h.Value + "\r\n"
	}
	post := func(header string) string {
		return "POST /mcp HTTP/1.1\r\nHost: " + host + "\r\nContent-Type: application/json\r\n" + header
	}
	for name, c := range map[string]struct {
		sent   string
		status int
	}{
		"no key, no body":               {post("Content-Length: 100\r\n\r\n"), http.StatusUnauthorized},
		"no key, a body without end":    {post("Transfer-Encoding: chunked\r\n\r\n5\r\nab"), http.StatusUnauthorized},
		"no key, and then nothing":      {post("Content-Length: 2\r\n\r\n{}"), http.StatusUnauthorized},
		"another host, no body":         {"POST /mcp HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 100\r\n\r\n", http.StatusForbidden},
		"a browser, no body":            {post("Origin: http://" + host + "\r\nContent-Length: 100\r\n\r\n"), http.StatusForbidden},
		"a key, no body":                {post(key + "Content-Length: 100\r\n\r\n"), http.StatusRequestTimeout},
		"a key, a body that comes late": {post(key + "Content-Length: 100\r\n\r\n{"), http.StatusRequestTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", host)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
			if _, err := io.WriteString(conn, c.sent); err != nil {
				t.Fatal(err)
			}
			in := bufio.NewReader(conn)
			response, err := http.ReadResponse(in, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			body, _ := io.ReadAll(response.Body) // cut or whole
			if response.StatusCode != c.status || strings.Contains(string(body), "Bearer") {
				t.Errorf("status %d, %s", response.StatusCode, body)
			}
			if _, err := io.Copy(io.Discard, in); err != nil && strings.Contains(err.Error(), "timeout") {
				t.Error("the connection stays open")
			}
		})
	}
}

// The door is on loopback alone: no other address of the machine reaches it.
func TestOnlyLoopback(t *testing.T) {
	o := open(t, echo, review)
	_, port, err := net.SplitHostPort(o.pass.host)
	if err != nil {
		t.Fatal(err)
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range append(addresses, &net.IPNet{IP: net.ParseIP("127.0.0.1")}) {
		ip := a.(*net.IPNet).IP
		conn, err := net.DialTimeout("tcp", net.JoinHostPort(ip.String(), port), 2*time.Second)
		if err == nil {
			_ = conn.Close()
		}
		if want := ip.String() == "127.0.0.1"; (err == nil) != want {
			t.Errorf("%s: %v", ip, err)
		}
	}
}
