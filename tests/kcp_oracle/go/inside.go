// Joins a copy of package kcp, in the place of its timedsched.go: virtual time, and what an oracle
// has to reach that the package does not export. (In the copy, its clock reads virtualMs and its
// sessions ask virtualNow for the time.)

package kcp

import (
	"errors"
	"net"
	"time"
)

var virtualMs uint64

func virtualNow() time.Time { return time.Unix(0, 0).Add(time.Duration(virtualMs) * time.Millisecond) }

func SetClock(ms uint64) { virtualMs = ms }

func (kcp *KCP) Flush() { kcp.flush(false) }

func (kcp *KCP) SetStream(stream int32) { kcp.stream = stream }

func (kcp *KCP) IsDead() bool { return kcp.state == 0xFFFFFFFF }

// TimedSched keeps the one function that a session has waiting, and runs it when time is moved.
type TimedSched struct {
	waiting func()
	due     time.Time
}

var SystemTimedSched = &TimedSched{}

func (s *TimedSched) Put(f func(), due time.Time) { s.waiting, s.due = f, due }

// Session is a UDPSession in virtual time, with an application that reads at once and that waits
// where a write would block.
type Session struct {
	*UDPSession
	conn      *recorder
	timer     *TimedSched
	unwritten [][]byte
	Read      [][]byte
	buffer    []byte
}

func NewSession(conv uint32) (*Session, error) {
	SystemTimedSched = &TimedSched{}
	conn := &recorder{closed: make(chan struct{})}
	session, err := NewConn3(conv, recorderAddress{}, nil, 0, 0, conn)
	if err != nil {
		return nil, err
	}
	past := time.Unix(-1, 0)
	if err := session.SetDeadline(past); err != nil {
		return nil, err
	}
	return &Session{
		UDPSession: session, conn: conn, timer: SystemTimedSched, buffer: make([]byte, 1<<20),
	}, nil
}

// RunUntil moves the time, and does at its time what is due by then.
func (s *Session) RunUntil(ms uint64) {
	SystemTimedSched = s.timer
	for end := virtualMs; s.timer.waiting != nil; end = virtualMs {
		due := uint64(s.timer.due.UnixNano() / int64(time.Millisecond))
		if due > ms {
			break
		}
		if due > end {
			virtualMs = due
		}
		run := s.timer.waiting
		s.timer.waiting = nil
		run()
		s.writeIfWoken()
	}
	virtualMs = ms
}

func (s *Session) WriteOrWait(message []byte) {
	if len(s.unwritten) > 0 || !s.tryWrite(message) {
		s.unwritten = append(s.unwritten, message)
	}
}

// tryWrite: the write deadline has passed, so that a write that has to wait gives up instead.
func (s *Session) tryWrite(message []byte) bool {
	_, err := s.UDPSession.Write(message)
	return err == nil
}

func (s *Session) writeIfWoken() {
	select {
	case <-s.chWriteEvent:
	default:
		return
	}
	for len(s.unwritten) > 0 && s.tryWrite(s.unwritten[0]) {
		s.unwritten = s.unwritten[1:]
	}
}

func (s *Session) Arrive(datagram []byte) {
	s.packetInput(datagram)
	for {
		length, err := s.UDPSession.Read(s.buffer)
		if err != nil {
			break
		}
		s.Read = append(s.Read, append([]byte(nil), s.buffer[:length]...))
	}
	s.writeIfWoken()
}

// Close ends the goroutine that reads from the socket too.
func (s *Session) Close() error {
	if err := s.UDPSession.Close(); err != nil {
		return err
	}
	return s.conn.Close()
}

func (s *Session) Sent() [][]byte {
	sent := s.conn.sent
	s.conn.sent = nil
	return sent
}

// recorder is a socket that keeps what is sent and that nothing arrives at.
type recorder struct {
	sent   [][]byte
	closed chan struct{}
}

type recorderAddress struct{}

func (recorderAddress) Network() string { return "recorder" }
func (recorderAddress) String() string  { return "recorder" }

func (r *recorder) WriteTo(datagram []byte, _ net.Addr) (int, error) {
	r.sent = append(r.sent, append([]byte(nil), datagram...))
	return len(datagram), nil
}

func (r *recorder) ReadFrom([]byte) (int, net.Addr, error) {
	<-r.closed
	return 0, nil, errors.New("closed")
}

func (r *recorder) Close() error                     { close(r.closed); return nil }
func (r *recorder) LocalAddr() net.Addr              { return recorderAddress{} }
func (r *recorder) SetDeadline(time.Time) error      { return nil }
func (r *recorder) SetReadDeadline(time.Time) error  { return nil }
func (r *recorder) SetWriteDeadline(time.Time) error { return nil }
