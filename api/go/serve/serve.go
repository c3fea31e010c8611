// Package serve answers requests, one frame after the other, until the input ends.
//
// It implements the frames, kinds and statuses of harness/adapter/PROTOCOL.md, and it encodes programs. It must not know how
// requests are answered. It does not recover: if the code under test panics, the process ends with a trace on standard error.
package serve

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const (
	answered    = 0
	unsupported = 1
	refused     = 2

	maxFrame = 1 << 30 // bytes; longer frames are invalid

	// InsnSize and InputSize are the sizes of struct sock_filter and struct seccomp_data in bytes.
	InsnSize  = 8
	InputSize = 64
)

// Handlers has a function for each supported kind of request. All other requests are answered
// "unsupported". A handler may keep its arguments.
type Handlers struct {
	Optimize func(program []Insn) ([]Insn, error)
	Compile  func(policy []byte) ([]Insn, error)
	// Evaluate receives complete inputs and returns one value for each.
	Evaluate func(program []Insn, inputs [][]byte) ([]uint32, error)
}

// Insn is a struct sock_filter.
type Insn struct {
	Code   uint16
	Jt, Jf uint8
	K      uint32
}

type cannot struct{ why string }

func (e cannot) Error() string { return e.why }

// Unsupported returns an error which means that the code under test cannot express the request. Any
// other error refuses the request.
func Unsupported(format string, arguments ...any) error {
	return cannot{fmt.Sprintf(format, arguments...)}
}

// Main serves until standard input ends, and then exits with 0. It exits with 2 if the input ends within a frame or is wrong.
func Main(handlers Handlers) {
	if err := Serve(handlers, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", os.Args[0], err)
		os.Exit(2)
	}
}

// Command is Main for a command without arguments. With any argument it prints its usage and exits with 2.
func Command(handlers Handlers) {
	if len(os.Args) > 1 {
		fmt.Fprintf(os.Stderr, "usage: %s (it takes no arguments and reads requests from standard input)\n", filepath.Base(os.Args[0]))
		os.Exit(2)
	}
	Main(handlers)
}

// Serve answers requests until `requests` ends. An end within a frame is an error.
func Serve(handlers Handlers, requests io.Reader, answers io.Writer) error {
	in, out := bufio.NewReader(requests), bufio.NewWriter(answers)
	for {
		request, err := readFrame(in)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := writeFrame(out, answer(handlers, request)); err != nil {
			return err
		}
	}
}

func readFrame(in io.Reader) ([]byte, error) {
	var head [4]byte
	if n, err := io.ReadFull(in, head[:]); err != nil {
		if n == 0 && err == io.EOF {
			return nil, io.EOF
		}
		return nil, fmt.Errorf("the input ended within the length of a frame")
	}
	length := binary.LittleEndian.Uint32(head[:])
	if length > maxFrame {
		return nil, fmt.Errorf("expected a frame of at most %d bytes, found %d", maxFrame, length)
	}
	// ReadAll grows its buffer as bytes arrive, so that a wrong length does not cost memory.
	frame, err := io.ReadAll(io.LimitReader(in, int64(length)))
	if err != nil {
		return nil, err
	}
	if len(frame) != int(length) {
		return nil, fmt.Errorf("the input ended after %d of %d bytes of a frame", len(frame), length)
	}
	return frame, nil
}

func writeFrame(out *bufio.Writer, frame []byte) error {
	var head [4]byte
	binary.LittleEndian.PutUint32(head[:], uint32(len(frame)))
	out.Write(head[:]) // Flush reports an error of this Write
	out.Write(frame)
	return out.Flush()
}

func answer(handlers Handlers, request []byte) []byte {
	body, err := dispatch(handlers, request)
	if err == nil {
		return append([]byte{answered}, body...)
	}
	status := byte(refused)
	if errors.As(err, &cannot{}) {
		status = unsupported
	}
	return append([]byte{status}, err.Error()...)
}

func dispatch(handlers Handlers, request []byte) ([]byte, error) {
	if len(request) == 0 {
		return nil, errors.New("expected a request, found an empty frame")
	}
	kind, body := request[0], request[1:]
	switch kind {
	case 'O':
		if handlers.Optimize == nil {
			return nil, Unsupported("this command does not optimize")
		}
		program, err := decode(body)
		if err != nil {
			return nil, err
		}
		program, err = handlers.Optimize(program)
		return encode(program), err
	case 'C':
		if handlers.Compile == nil {
			return nil, Unsupported("this command does not compile")
		}
		program, err := handlers.Compile(body)
		return encode(program), err
	case 'E':
		if handlers.Evaluate == nil {
			return nil, Unsupported("this command does not evaluate")
		}
		return evaluate(handlers, body)
	case 'R':
		edges, err := takeEdges()
		return numbers(edges), err
	}
	return nil, Unsupported("expected a request of kind O, C, E or R, found kind 0x%02x", kind)
}

func evaluate(handlers Handlers, body []byte) ([]byte, error) {
	if len(body) < 4 {
		return nil, fmt.Errorf("expected the number of instructions (4 bytes), found %d bytes", len(body))
	}
	count := uint64(binary.LittleEndian.Uint32(body))
	body = body[4:]
	if count*InsnSize > uint64(len(body)) {
		return nil, fmt.Errorf("expected %d instructions, found %d bytes", count, len(body))
	}
	program, err := decode(body[:count*InsnSize])
	if err != nil {
		return nil, err
	}
	body = body[count*InsnSize:]
	if len(body)%InputSize != 0 {
		return nil, fmt.Errorf("expected inputs of %d bytes each, found %d bytes", InputSize, len(body))
	}
	inputs := make([][]byte, 0, len(body)/InputSize)
	for at := 0; at < len(body); at += InputSize {
		inputs = append(inputs, body[at:at+InputSize])
	}
	values, err := handlers.Evaluate(program, inputs)
	return numbers(values), err
}

func numbers(values []uint32) []byte {
	var out []byte
	for _, value := range values {
		out = binary.LittleEndian.AppendUint32(out, value)
	}
	return out
}

func decode(raw []byte) ([]Insn, error) {
	if len(raw) == 0 || len(raw)%InsnSize != 0 {
		return nil, fmt.Errorf("expected whole instructions of %d bytes, at least one, found %d bytes", InsnSize, len(raw))
	}
	program := make([]Insn, 0, len(raw)/InsnSize)
	for ; len(raw) > 0; raw = raw[InsnSize:] {
		program = append(program, Insn{binary.LittleEndian.Uint16(raw), raw[2], raw[3], binary.LittleEndian.Uint32(raw[4:])})
	}
	return program, nil
}

func encode(program []Insn) []byte {
	var raw []byte
	for _, insn := range program {
		raw = binary.LittleEndian.AppendUint16(raw, insn.Code)
		raw = append(raw, insn.Jt, insn.Jf)
		raw = binary.LittleEndian.AppendUint32(raw, insn.K)
	}
	return raw
}
