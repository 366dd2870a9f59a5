// Replays what was done with one side of a KCP connection on kcp-go, and answers what kcp-go did:
// one transcript after the other, from standard input to standard output, until it ends.
//
// Both are a u32 of their length and that many bytes; numbers are little-endian, bytes come behind a
// u32 of their number. A transcript is the settings and then calls, each one byte and its arguments;
// an answer is what the calls return, one behind the other.
package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"

	kcp "github.com/xtaci/kcp-go"
)

const (
	callClock = iota
	callUpdate
	callFlush
	callSend
	callReceive
	callInput
	callDatagrams
	callDead
)

const nothing = 0xffffffff

type settings struct {
	session                        bool
	conv                           uint32
	nodelay, interval, resend, nc  int
	sendWindow, receiveWindow, mtu int
	stream, ackNoDelay, writeDelay bool
}

func main() {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		var length uint32
		err := binary.Read(in, binary.LittleEndian, &length)
		if err == io.EOF {
			return
		}
		check(err)
		transcript := reader{make([]byte, length)}
		_, err = io.ReadFull(in, transcript.rest)
		check(err)
		answers := replay(&transcript)
		check(binary.Write(out, binary.LittleEndian, uint32(len(answers.bytes))))
		_, err = out.Write(answers.bytes)
		check(err)
		check(out.Flush())
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func replay(transcript *reader) writer {
	settings := transcript.settings()
	answers := writer{}
	var side side
	if settings.session {
		side = newSession(settings)
	} else {
		side = newEngine(settings)
	}
	for len(transcript.rest) > 0 {
		switch transcript.byte() {
		case callClock:
			side.clock(transcript.word64())
		case callUpdate:
			side.update()
		case callFlush:
			side.flush()
		case callSend:
			answers.flag(side.send(transcript.bytes()))
		case callReceive:
			answers.maybe(side.receive())
		case callInput:
			regular := transcript.byte() == 1
			answers.flag(side.input(transcript.bytes(), regular))
		case callDatagrams:
			answers.all(side.datagrams())
		case callDead:
			answers.flag(side.dead())
		default:
			panic("an unknown call")
		}
	}
	side.close()
	return answers
}

type side interface {
	clock(ms uint64)
	update()
	flush()
	send(message []byte) bool
	receive() []byte
	input(datagram []byte, regular bool) bool
	datagrams() [][]byte
	dead() bool
	close()
}

// engine is the state machine alone.
type engine struct {
	*kcp.KCP
	ackNoDelay bool
	sent       [][]byte
	buffer     []byte
}

func newEngine(settings settings) *engine {
	e := &engine{ackNoDelay: settings.ackNoDelay, buffer: make([]byte, 1<<20)}
	e.KCP = kcp.NewKCP(settings.conv, func(buffer []byte, size int) {
		e.sent = append(e.sent, append([]byte(nil), buffer[:size]...))
	})
	e.NoDelay(settings.nodelay, settings.interval, settings.resend, settings.nc)
	e.WndSize(settings.sendWindow, settings.receiveWindow)
	e.SetMtu(settings.mtu)
	if settings.stream {
		e.SetStream(1)
	}
	return e
}

func (e *engine) clock(ms uint64)          { kcp.SetClock(ms) }
func (e *engine) update()                  { e.Update() }
func (e *engine) flush()                   { e.Flush() }
func (e *engine) send(message []byte) bool { return e.Send(message) >= 0 }
func (e *engine) dead() bool               { return e.IsDead() }
func (e *engine) close()                   {}

func (e *engine) receive() []byte {
	length := e.Recv(e.buffer)
	if length < 0 {
		return nil
	}
	return append([]byte{}, e.buffer[:length]...)
}

func (e *engine) input(datagram []byte, regular bool) bool {
	return e.Input(datagram, regular, e.ackNoDelay) == 0
}

func (e *engine) datagrams() [][]byte {
	sent := e.sent
	e.sent = nil
	return sent
}

// session is the state machine with what kcp-go has around it.
type session struct{ *kcp.Session }

func newSession(settings settings) *session {
	kcp.SetClock(0)
	s, err := kcp.NewSession(settings.conv)
	check(err)
	nc := settings.nc
	s.SetNoDelay(settings.nodelay, settings.interval, settings.resend, nc)
	s.SetWindowSize(settings.sendWindow, settings.receiveWindow)
	s.SetMtu(settings.mtu)
	s.SetStreamMode(settings.stream)
	s.SetACKNoDelay(settings.ackNoDelay)
	s.SetWriteDelay(settings.writeDelay)
	return &session{s}
}

func (s *session) clock(ms uint64) { s.RunUntil(ms) }
func (s *session) update()         { panic("a session updates itself") }
func (s *session) flush()          { panic("a session flushes itself") }
func (s *session) dead() bool      { return false }
func (s *session) close()          { check(s.Close()) }

func (s *session) send(message []byte) bool {
	s.WriteOrWait(message)
	return true
}

func (s *session) receive() []byte {
	if len(s.Read) == 0 {
		return nil
	}
	first := s.Read[0]
	s.Read = s.Read[1:]
	return first
}

func (s *session) input(datagram []byte, _ bool) bool {
	s.Arrive(datagram)
	return true
}

func (s *session) datagrams() [][]byte { return s.Sent() }

type reader struct{ rest []byte }

func (r *reader) take(length int) []byte {
	taken := r.rest[:length:length]
	r.rest = r.rest[length:]
	return taken
}

func (r *reader) byte() byte     { return r.take(1)[0] }
func (r *reader) flag() bool     { return r.byte() == 1 }
func (r *reader) word() uint32   { return binary.LittleEndian.Uint32(r.take(4)) }
func (r *reader) word64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }
func (r *reader) number() int    { return int(r.word()) }
func (r *reader) bytes() []byte  { return r.take(r.number()) }

func (r *reader) settings() settings {
	return settings{
		session: r.flag(), conv: r.word(),
		nodelay: r.number(), interval: r.number(), resend: r.number(), nc: r.number(),
		sendWindow: r.number(), receiveWindow: r.number(), mtu: r.number(),
		stream: r.flag(), ackNoDelay: r.flag(), writeDelay: r.flag(),
	}
}

type writer struct{ bytes []byte }

func (w *writer) word(word uint32) {
	w.bytes = append(w.bytes, byte(word), byte(word>>8), byte(word>>16), byte(word>>24))
}

func (w *writer) flag(flag bool) {
	if flag {
		w.bytes = append(w.bytes, 1)
	} else {
		w.bytes = append(w.bytes, 0)
	}
}

func (w *writer) some(bytes []byte) {
	w.word(uint32(len(bytes)))
	w.bytes = append(w.bytes, bytes...)
}

func (w *writer) maybe(bytes []byte) {
	if bytes == nil {
		w.word(nothing)
	} else {
		w.some(bytes)
	}
}

func (w *writer) all(many [][]byte) {
	w.word(uint32(len(many)))
	for _, bytes := range many {
		w.some(bytes)
	}
}
