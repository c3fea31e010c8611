package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// syscallNames maps system call numbers to names and back.
type syscallNames struct {
	byNumber map[uintptr]string
	byName   map[string]uintptr
}

// readNames reads lines of "number name".
func readNames(path string) (syscallNames, error) {
	names := syscallNames{map[uintptr]string{}, map[string]uintptr{}}
	file, err := os.Open(path)
	if err != nil {
		return names, err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for at := 1; lines.Scan(); at++ {
		fields := strings.Fields(lines.Text())
		if len(fields) != 2 {
			return names, fmt.Errorf("%s:%d: expected a number and a name", path, at)
		}
		number, err := strconv.ParseUint(fields[0], 10, 32)
		if err != nil {
			return names, fmt.Errorf("%s:%d: %w", path, at, err)
		}
		names.byNumber[uintptr(number)] = fields[1]
		names.byName[fields[1]] = uintptr(number)
	}
	return names, lines.Err()
}

// text returns the name of nr, or the number that the filter sees. gVisor writes its pseudo number
// -1 with 64 bits, but the filter compares 32 bits.
func (n syscallNames) text(nr uintptr) string {
	if name, ok := n.byNumber[nr]; ok {
		return name
	}
	return strconv.FormatUint(uint64(uint32(nr)), 10)
}

// number is the inverse of text. gVisor orders its search trees by the 64-bit number.
func (n syscallNames) number(text string) (uintptr, error) {
	if nr, ok := n.byName[text]; ok {
		return nr, nil
	}
	nr, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		return 0, fmt.Errorf("%q is neither a system call nor a number", text)
	}
	return uintptr(int32(nr)), nil
}
