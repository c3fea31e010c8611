package serve

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"runtime/coverage"
)

// Numbers of edges are below this (harness/adapter/PROTOCOL.md).
const maxEdges = 1 << 22

// The sizes, in bytes, of the parts of a counter data file of Go (package internal/coverage of its standard library).
const (
	fileHeaderSize    = 32
	flavorAt          = 24 // in the file header
	segmentHeaderSize = 16
	rawFlavor         = 1 // numbers of 32 bits; otherwise ULEB128
)

// takeEdges returns the numbers of the edges that this program reached since the last call. It needs a program that was built with
// -cover and -covermode=atomic. Any other program does not support this request.
func takeEdges() ([]uint32, error) {
	var file bytes.Buffer
	if err := coverage.WriteCounters(&file); err != nil {
		return nil, Unsupported("this command has no coverage counters: %v", err)
	}
	if err := coverage.ClearCounters(); err != nil {
		return nil, Unsupported("this command has no counters that can be cleared: %v", err)
	}
	return edgesIn(file.Bytes())
}

// edgesIn returns a number for each counter that is not zero. The number depends only on the package, the function, and the place of
// the counter in the function.
func edgesIn(file []byte) ([]uint32, error) {
	if len(file) < fileHeaderSize+segmentHeaderSize {
		return nil, fmt.Errorf("expected a header of coverage counters, found %d bytes", len(file))
	}
	raw := file[flavorAt] == rawFlavor
	segment := file[fileHeaderSize:]
	functions := binary.LittleEndian.Uint64(segment)
	names := uint64(binary.LittleEndian.Uint32(segment[8:])) + uint64(binary.LittleEndian.Uint32(segment[12:]))
	begin := (fileHeaderSize + segmentHeaderSize + names + 3) / 4 * 4
	if begin > uint64(len(file)) {
		return nil, fmt.Errorf("expected coverage counters at byte %d, found the end at %d", begin, len(file))
	}
	numbers := bytes.NewReader(file[begin:])
	next := func() (uint64, error) {
		if !raw {
			return binary.ReadUvarint(numbers)
		}
		var value uint32
		err := binary.Read(numbers, binary.LittleEndian, &value)
		return uint64(value), err
	}
	var edges []uint32
	for ; functions > 0; functions-- {
		var head [3]uint64 // the number of counters, the package, the function
		for i := range head {
			var err error
			if head[i], err = next(); err != nil {
				return nil, fmt.Errorf("the coverage counters end early: %v", err)
			}
		}
		for counter := uint64(0); counter < head[0]; counter++ {
			count, err := next()
			if err != nil {
				return nil, fmt.Errorf("the coverage counters end early: %v", err)
			}
			if count != 0 {
				edges = append(edges, edgeNumber(head[1], head[2], counter))
			}
		}
	}
	return edges, nil
}

func edgeNumber(place ...uint64) uint32 {
	hash := fnv.New32a()
	for _, part := range place {
		hash.Write(binary.LittleEndian.AppendUint64(nil, part))
	}
	return hash.Sum32() % maxEdges
}
