// Package mlflow tells a tracking server of MLflow of a run, by the REST interface, version 2.0: experiments, runs, and
// batches of metrics, parameters and tags. A server that is slow, or not there, keeps nobody waiting: see [Tracker].
package mlflow

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Limits of the interface: entries of one request, and bytes of a name and of a parameter's value, of which older
// servers take fewer than newer ones.
const (
	mostMetrics, mostParams, mostTags = 1000, 100, 100
	mostKey, mostValue                = 250, 500
)

// requestTime is the longest that a request may take, and mostAnswer the most bytes that are read of what comes back.
const (
	requestTime = 20 * time.Second
	mostAnswer  = 64 << 20
)

// Names of the environment's variables, which are those of MLflow's own clients.
const (
	userVariable, passwordVariable = "MLFLOW_TRACKING_USERNAME", "MLFLOW_TRACKING_PASSWORD"
	tokenVariable                  = "MLFLOW_TRACKING_TOKEN"
	insecureVariable, certVariable = "MLFLOW_TRACKING_INSECURE_TLS", "MLFLOW_TRACKING_SERVER_CERT_PATH"
)

// CheckServer says what is wrong with a server's URL. Names and passwords are none of its parts: it is printed, and
// kept with the settings.
func CheckServer(server string) error {
	u, err := url.Parse(server)
	switch {
	case err != nil:
		return errors.New("not a URL: want http://HOST:PORT or https://HOST")
	case u.User != nil:
		return fmt.Errorf("the URL holds a name or a password, and URLs are printed: give these by %s and %s, or %s", userVariable, passwordVariable, tokenVariable)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return fmt.Errorf("%q is not the URL of a server: want http://HOST:PORT or https://HOST", server)
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("the URL has something behind ? or #: want http://HOST:PORT or https://HOST, and a path at most")
	}
	return nil
}

// client speaks with a server.
type client struct {
	base string // of all addresses
	http *http.Client
	auth func(*http.Request)
}

// newClient reads from the environment who asks, as MLflow's clients do: a name with a password, or else a token.
func newClient(server string) (*client, error) {
	if err := CheckServer(server); err != nil {
		return nil, err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: strings.EqualFold(os.Getenv(insecureVariable), "true") || os.Getenv(insecureVariable) == "1"}
	if path := os.Getenv(certVariable); path != "" {
		pem, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", certVariable, err)
		}
		transport.TLSClientConfig.RootCAs = x509.NewCertPool()
		if !transport.TLSClientConfig.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s: %s holds no certificate", certVariable, path)
		}
	}
	user, password, token := os.Getenv(userVariable), os.Getenv(passwordVariable), os.Getenv(tokenVariable)
	auth := func(*http.Request) {}
	switch {
	case user != "" && password != "":
		auth = func(r *http.Request) { r.SetBasicAuth(user, password) }
	case token != "":
		auth = func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	return &client{
		base: strings.TrimSuffix(server, "/") + "/api/2.0/mlflow/", http: &http.Client{Transport: transport, Timeout: requestTime}, auth: auth,
	}, nil
}

// refusal is a server's answer that is none of success.
type refusal struct {
	status  int
	code    string // MLflow's: RESOURCE_DOES_NOT_EXIST and others
	message string
}

func (e *refusal) Error() string {
	text := fmt.Sprintf("it answers %d %s", e.status, http.StatusText(e.status))
	if e.code != "" {
		text += ", " + e.code
	}
	if e.message != "" {
		text += ": " + e.message
	}
	if e.status == http.StatusUnauthorized || e.status == http.StatusForbidden {
		text += fmt.Sprintf(" (a name and a password come from %s and %s, a token from %s)", userVariable, passwordVariable, tokenVariable)
	}
	return text
}

// passing says whether the same request may succeed later.
func passing(err error) bool {
	var r *refusal
	if !errors.As(err, &r) {
		return true // the network's
	}
	switch r.status {
	case http.StatusBadRequest, http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		return false
	}
	return true
}

// refused says whether an error is the server's, with this code.
func refused(err error, code string) bool {
	var r *refusal
	return errors.As(err, &r) && r.code == code
}

// call makes a request: with a body a POST, else a GET. out takes the answer; it may be nil.
func (c *client) call(ctx context.Context, what string, body, out any) error {
	method, content := http.MethodGet, io.Reader(nil)
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			return err
		}
		method, content = http.MethodPost, bytes.NewReader(b)
	}
	request, err := http.NewRequestWithContext(ctx, method, c.base+what, content)
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	c.auth(request)
	answer, err := c.http.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, mostAnswer))
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return newRefusal(answer.StatusCode, text)
	}
	if out == nil {
		out = &struct{}{}
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("what answers is no MLflow server: %s doesn't give JSON as wanted: %w", c.base+what, err)
	}
	return nil
}

func newRefusal(status int, text []byte) *refusal {
	var said struct {
		Code    string `json:"error_code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(text, &said) != nil {
		return &refusal{status: status}
	}
	return &refusal{status, said.Code, short(said.Message, 300)}
}

// short cuts a text to at most n bytes, between two characters.
func short(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n-len("…")], "") + "…"
}
