package secequiv

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/imports/wasi_snapshot_preview1"
)

const (
	dataBytes    = 64   // struct seccomp_data
	optionBytes  = 80   // struct secequiv_options on wasm32
	memoryMiB    = 256  // for decision diagrams
	memoryPages  = 8192 // of 64 KiB, in all
	pass         = uint64(Pass)
	longestValue = 8 // bytes of the numbers that functions return through pointers
)

//go:embed secequiv.wasm
var code []byte

var module struct {
	once     sync.Once
	runtime  wazero.Runtime
	compiled wazero.CompiledModule
	err      error
}

// loaded compiles the module once.
func loaded() (wazero.Runtime, wazero.CompiledModule, error) {
	module.once.Do(func() {
		ctx := context.Background()
		config := wazero.NewRuntimeConfig().WithMemoryLimitPages(memoryPages).WithCloseOnContextDone(true)
		module.runtime = wazero.NewRuntimeWithConfig(ctx, config)
		if _, module.err = wasi_snapshot_preview1.Instantiate(ctx, module.runtime); module.err == nil {
			module.compiled, module.err = module.runtime.CompileModule(ctx, code)
		}
	})
	return module.runtime, module.compiled, module.err
}

// Version returns the version of the analyses, like "0.1.0".
func Version(ctx context.Context) (string, error) {
	out := ""
	_, err := ask(ctx, nil, nil, func(c *call) { out = c.string(c.call("secequiv_version")) })
	return out, err
}

// call is one question in a new instance of the module. Its methods panic with a failure, which ask catches. Nothing is freed, because the
// instance ends with the call.
type call struct {
	ctx     context.Context
	module  api.Module
	options uint64   // where the structure is
	read    []uint64 // handles of the inputs; 0 for nil
	out     Answer
	problem *InputError
}

type failure struct{ err error }

func (c *call) call(name string, arguments ...uint64) uint64 {
	results, err := c.module.ExportedFunction(name).Call(c.ctx, arguments...)
	if err != nil {
		if c.ctx.Err() != nil {
			err = c.ctx.Err()
		} else {
			cause := ErrTrap
			if ranOut, failed := c.module.ExportedFunction("secequiv_module_memory_ran_out").Call(c.ctx); failed == nil && ranOut[0] == 1 {
				cause = ErrMemory
			}
			err = fmt.Errorf("%w (%s: %v)", cause, name, err)
		}
		panic(failure{err})
	}
	if len(results) == 0 {
		return 0
	}
	return results[0]
}

func (c *call) allocate(size int) uint64 {
	at := c.call("malloc", uint64(max(size, 1)))
	if at == 0 {
		panic(failure{ErrMemory})
	}
	return at
}

// bytes copies bytes into the module.
func (c *call) bytes(content []byte) uint64 {
	at := c.allocate(len(content))
	c.module.Memory().Write(uint32(at), content)
	return at
}

// text copies a text; "" becomes NULL.
func (c *call) text(content string) uint64 {
	if content == "" {
		return 0
	}
	return c.bytes(append([]byte(content), 0))
}

func (c *call) data(data Data) uint64 {
	out := make([]byte, 0, dataBytes)
	out = binary.LittleEndian.AppendUint32(out, uint32(data.Nr))
	out = binary.LittleEndian.AppendUint32(out, data.Arch)
	out = binary.LittleEndian.AppendUint64(out, data.InstructionPointer)
	for _, arg := range data.Args {
		out = binary.LittleEndian.AppendUint64(out, arg)
	}
	return c.bytes(out)
}

func (c *call) put(options *Options) uint64 {
	if options == nil {
		options = &Options{}
	}
	memory := options.MaxMemoryMiB
	if memory == 0 {
		memory = memoryMiB
	}
	flag := func(on bool) uint32 {
		if on {
			return 1
		}
		return 0
	}
	out := binary.LittleEndian.AppendUint32(nil, optionBytes)
	for _, value := range []uint32{uint32(options.Same), flag(options.Refines), 0 /* engine */, flag(options.AnyLength), 0 /* padding */} {
		out = binary.LittleEndian.AppendUint32(out, value)
	}
	for _, value := range []uint64{math.Float64bits(options.Timeout.Seconds()), memory, options.MaxRegions} {
		out = binary.LittleEndian.AppendUint64(out, value)
	}
	for _, text := range []string{options.Assume, options.Arch, options.Form, options.Kernel, options.Capabilities, options.Filter, options.PolicyFormat} {
		out = binary.LittleEndian.AppendUint32(out, uint32(c.text(text)))
	}
	return c.bytes(append(out, make([]byte, optionBytes-len(out))...))
}

// string returns the C string at an address; "" for NULL.
func (c *call) string(at uint64) string {
	if at == 0 {
		return ""
	}
	memory := c.module.Memory()
	rest, _ := memory.Read(uint32(at), memory.Size()-uint32(at))
	text, _, _ := bytes.Cut(rest, []byte{0})
	return string(text)
}

// program returns the instructions of a handle and their number.
func (c *call) program(handle uint64) (at, length uint64) {
	if handle == 0 {
		return 0, 0
	}
	where := c.allocate(longestValue)
	at = c.call("secequiv_result_program", handle, where)
	count, _ := c.module.Memory().ReadUint32Le(uint32(where))
	return at, uint64(count)
}

func (c *call) programs() (one, oneLength, other, otherLength uint64) {
	one, oneLength = c.program(c.read[0])
	other, otherLength = c.program(c.read[1])
	return one, oneLength, other, otherLength
}

// answer calls a function that returns a handle, and keeps what it found.
func (c *call) answer(name string, arguments ...uint64) { c.keep(c.call(name, arguments...)) }

func (c *call) keep(handle uint64) {
	c.out.Verdict = Verdict(c.call("secequiv_result_verdict", handle))
	c.out.Message = c.string(c.call("secequiv_result_message", handle))
	c.out.Notes = c.string(c.call("secequiv_result_notes", handle))
	if document := c.string(c.call("secequiv_result_json", handle)); document != "" {
		c.out.JSON = json.RawMessage(document)
	}
	if c.out.Verdict == Error {
		c.problem = &InputError{c.out.Message, c.out.JSON}
		return
	}
	where := c.allocate(dataBytes + 2*longestValue)
	if c.call("secequiv_result_witness", handle, where, where+dataBytes, where+dataBytes+longestValue) == 1 {
		c.out.Witness = c.witness(where)
	}
	if c.call("secequiv_result_value", handle, where) == 1 {
		c.out.Value, _ = c.module.Memory().ReadUint32Le(uint32(where))
	}
	if at, length := c.program(handle); at != 0 {
		program, _ := c.module.Memory().Read(uint32(at), uint32(8*length))
		c.out.Program = append([]byte(nil), program...)
	}
}

func (c *call) witness(where uint64) *Witness {
	words, _ := c.module.Memory().Read(uint32(where), dataBytes+2*longestValue)
	out := &Witness{Before: binary.LittleEndian.Uint32(words[dataBytes:]), After: binary.LittleEndian.Uint32(words[dataBytes+longestValue:])}
	out.Data.Nr = int32(binary.LittleEndian.Uint32(words))
	out.Data.Arch = binary.LittleEndian.Uint32(words[4:])
	out.Data.InstructionPointer = binary.LittleEndian.Uint64(words[8:])
	for i := range out.Data.Args {
		out.Data.Args[i] = binary.LittleEndian.Uint64(words[16+8*i:])
	}
	return out
}

type input struct {
	name  string
	bytes []byte
}

// inputs names filters for messages.
func inputs(filters ...[]byte) []input {
	if len(filters) == 1 {
		return []input{{"<filter>", filters[0]}}
	}
	return []input{{"<before>", filters[0]}, {"<after>", filters[1]}}
}

// ask reads the inputs in a new instance, and then asks the question.
func ask(ctx context.Context, options *Options, given []input, question func(*call)) (answer *Answer, err error) {
	runtime, compiled, err := loaded()
	if err != nil {
		return nil, fmt.Errorf("secequiv: the module cannot be compiled: %w", err)
	}
	// Instances have no name, so any number of them can run at once.
	config := wazero.NewModuleConfig().WithName("").WithStartFunctions("_initialize").WithSysWalltime().WithSysNanotime()
	instance, err := runtime.InstantiateModule(ctx, compiled, config)
	if err != nil {
		return nil, fmt.Errorf("secequiv: the module does not start: %w", err)
	}
	defer instance.Close(context.WithoutCancel(ctx))
	defer func() {
		switch found := recover().(type) {
		case nil:
		case failure:
			answer, err = nil, found.err
		default:
			panic(found)
		}
	}()
	c := &call{ctx: ctx, module: instance}
	c.options = c.put(options)
	for _, each := range given {
		if each.bytes == nil {
			c.read = append(c.read, 0)
			continue
		}
		handle := c.call("secequiv_parse", c.bytes(each.bytes), uint64(len(each.bytes)), c.text(each.name), c.options)
		if c.call("secequiv_result_verdict", handle) != pass {
			c.keep(handle)
			break
		}
		c.read = append(c.read, handle)
	}
	if c.problem == nil {
		question(c)
	}
	if c.problem != nil {
		return nil, c.problem
	}
	return &c.out, nil
}
