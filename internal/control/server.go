package control

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

const (
	mostClients = 64 // connections at a time
	mostOrders  = 16 // that wait for the run
)

// Server answers for one run. Its methods other than Close are for the goroutine that trains.
type Server struct {
	info   func() Info
	socket *socket
	orders chan *order
	ended  chan struct{}

	mu      sync.Mutex
	clients map[net.Conn]struct{}
	closed  bool
	wait    sync.WaitGroup
}

// order is a request that the run carries out.
type order struct {
	Request
	done chan Response // has room for one
}

// Listen begins to answer requests in dir, in the name of this process. info is called from other goroutines, at any
// time until Close returns. It is an error if another run listens there, or if the system has no such sockets
// ([errors.ErrUnsupported]).
func Listen(dir string, info func() Info) (*Server, error) {
	socket, err := listen(dir)
	if err != nil {
		return nil, fmt.Errorf("no control socket in %s: %w", dir, err)
	}
	s := &Server{
		info: info, socket: socket, orders: make(chan *order, mostOrders), ended: make(chan struct{}), clients: map[net.Conn]struct{}{},
	}
	s.wait.Add(1)
	go s.accept()
	return s, nil
}

// Serve carries out what was asked for since the last call; do does one of them, and says what came of it. It doesn't
// wait for requests.
func (s *Server) Serve(do func(Request) (note string, err error)) {
	for {
		select {
		case o := <-s.orders:
			before := s.info()
			note, err := do(o.Request)
			after := s.info()
			r := Response{Done: true, Note: note, Before: &before, Info: &after}
			if err != nil {
				r = Response{Error: err.Error()}
			}
			o.done <- r
		default:
			return
		}
	}
}

// Close ends all of it and removes the socket. Who waits for the run is told that it has ended. A second call does
// nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.ended)
	for c := range s.clients {
		_ = c.SetReadDeadline(time.Unix(1, 0)) // whoever hasn't asked yet isn't waited for
	}
	s.mu.Unlock()
	err := s.socket.close()
	s.wait.Wait()
	return err
}

// accept takes connections until Close.
func (s *Server) accept() {
	defer s.wait.Done()
	for {
		c, err := s.socket.Accept()
		switch {
		case err == nil:
			s.admit(c)
		case errors.Is(err, net.ErrClosed):
			return
		default: // no more open files, say: there may be some again
			select {
			case <-s.ended:
				return
			case <-time.After(patience / 10):
			}
		}
	}
}

// admit gives a connection a goroutine of its own, if there is one left.
func (s *Server) admit(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.clients) >= mostClients {
		c.Close()
		return
	}
	s.clients[c] = struct{}{}
	s.wait.Add(1)
	go func() {
		defer s.wait.Done()
		s.handle(c)
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.clients, c)
		c.Close()
	}()
}

// handle reads one request and answers it. Where the other side is gone nobody needs to know.
func (s *Server) handle(c net.Conn) {
	r := Response{}
	if request, err := s.read(c); err != nil {
		r.Error = err.Error()
	} else {
		r = s.answer(request)
	}
	r.Version, r.Waiting = Version, len(s.orders)
	line, err := json.Marshal(r)
	if err != nil {
		return
	}
	_ = c.SetWriteDeadline(time.Now().Add(patience))
	_, _ = c.Write(append(line, '\n'))
}

// read reads the request of a connection, from whoever may make one.
func (s *Server) read(c net.Conn) (Request, error) {
	s.mu.Lock()
	if !s.closed { // else the deadline of Close stays
		_ = c.SetReadDeadline(time.Now().Add(patience))
	}
	s.mu.Unlock()
	line, err := readLine(c, mostRequest)
	if err != nil {
		return Request{}, fmt.Errorf("the request: %w", err)
	}
	if err := allowed(c); err != nil {
		return Request{}, err
	}
	return parseRequest(line)
}

// readLine reads up to the end of a line, of at most so many bytes.
func readLine(r io.Reader, most int64) ([]byte, error) {
	line, err := bufio.NewReader(io.LimitReader(r, most)).ReadBytes('\n')
	switch {
	case err == io.EOF && int64(len(line)) >= most:
		return nil, fmt.Errorf("a line of more than %d bytes", most)
	case err == io.EOF:
		return nil, io.ErrUnexpectedEOF
	}
	return line, err
}

var errEnded = errors.New("the run ends")

// answer is the response to a request, after the run has carried it out if that is needed.
func (s *Server) answer(request Request) Response {
	if request.Ask == AskInfo {
		info := s.info()
		return Response{Done: true, Info: &info}
	}
	o := &order{request, make(chan Response, 1)}
	select {
	case s.orders <- o:
	default:
		return Response{Error: fmt.Sprintf("%d requests wait for this run already: try again later", mostOrders)}
	}
	select {
	case r := <-o.done:
		return r
	case <-s.ended:
		return Response{Error: errEnded.Error()}
	case <-time.After(request.wait()):
	}
	info := s.info()
	return Response{Note: "the run is in the middle of an update or a validation: it is asked, and does this after it", Info: &info}
}
