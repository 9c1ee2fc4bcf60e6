package watch

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// What bounds viewers.
const (
	mostClients    = 64 // connections; the next takes the place of one that asks for nothing, or waits
	mostHeader     = 8 << 10
	headerPatience = 5 * time.Second
	sendPatience   = 30 * time.Second // for an answer to be taken
	idlePatience   = 60 * time.Second
)

// guard refuses what is no reading of this page by its own address: other methods, bodies, other sites' pages, and
// names that aren't this machine's, by which a page of another site could pass for this one (DNS rebinding).
func (s *Server) guard(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !s.enter() {
			return
		}
		defer s.busy.Done()
		head := w.Header()
		head.Set("X-Content-Type-Options", "nosniff")
		head.Set("X-Frame-Options", "DENY")
		head.Set("Referrer-Policy", "no-referrer")
		head.Set("Cross-Origin-Resource-Policy", "same-origin")
		head.Set("Content-Security-Policy", "default-src 'none'")
		head.Set("Cache-Control", "no-cache")
		switch site := r.Header.Get("Sec-Fetch-Site"); {
		case r.Method != http.MethodGet && r.Method != http.MethodHead:
			head.Set("Allow", "GET, HEAD")
			refuse(w, http.StatusMethodNotAllowed, "nothing can be changed here: GET and HEAD only")
		case r.ContentLength != 0:
			head.Set("Connection", "close")
			refuse(w, http.StatusRequestEntityTooLarge, "a request has no body here")
		case !s.known(r.Host):
			refuse(w, http.StatusMisdirectedRequest, fmt.Sprintf("%.100q is not a name that this page answers to: use the address, "+
				"or begin with the name that is meant as the host of --listen", r.Host))
		case (site == "cross-site" || site == "same-site") && r.Header.Get("Sec-Fetch-Mode") != "navigate":
			refuse(w, http.StatusForbidden, "this is not for pages of other sites")
		default:
			h(w, r)
		}
	}
}

// known says whether a request's Host may be this one's: an address, which no site can have as its name, or a name that
// was asked for. Nobody reaches a Unix socket by a name.
func (s *Server) known(host string) bool {
	if s.listener.socket != nil {
		return true
	}
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return true
	}
	return slices.Contains(s.listener.hosts, host)
}

func refuse(w http.ResponseWriter, code int, why string) { http.Error(w, why, code) }
