package secequivtest

import (
	"bytes"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
)

// home is the folder of the package under test, in which `go test` starts the test binary.
var home = func() string {
	folder, err := os.Getwd()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folder = real
	}
	return filepath.ToSlash(folder)
}()

// includes finds the files that a minijail policy includes; secequiv accepts only paths that start with ./
var includes = regexp.MustCompile(`(?m)^[ \t]*@include[ \t]+(\./\S+)`)

const maxIncludes = 10 // nested files, as in secequiv

// observe opens a file, or all files of a folder, that secequiv reads in another process. Otherwise `go test` would not notice changes of
// these files and would answer "(cached)": it compares only files that the test binary itself opened.
func observe(name string) { observeWith(name, maxIncludes) }

// observeWith also opens files that a minijail policy includes, up to this depth.
func observeWith(name string, depth int) {
	absolute, err := filepath.Abs(name)
	if err != nil {
		return
	}
	// `go test` ignores files outside the module. It compares only the beginnings of paths, so this name counts as inside:
	// it starts with the package's folder, and then goes up.
	if relative, err := filepath.Rel(home, absolute); home != "" && err == nil {
		absolute = home + "/" + filepath.ToSlash(relative)
	}
	observeNamed(absolute, depth)
}

// observeNamed does not report errors, because secequiv reports them. It must not change the beginning of `name`.
func observeNamed(name string, depth int) {
	info, err := os.Stat(name)
	if err != nil {
		return
	}
	if info.IsDir() {
		entries, _ := os.ReadDir(name)
		for _, entry := range entries {
			link := entry.Type()&fs.ModeSymlink != 0
			if inner := name + "/" + entry.Name(); !link || !isFolder(inner) { // secequiv does not follow links to folders
				observeNamed(inner, depth)
			}
		}
		return
	}
	if !info.Mode().IsRegular() {
		return // opening a FIFO would wait for its writer
	}
	file, err := os.Open(name)
	if err != nil {
		return
	}
	defer file.Close()
	if depth == 0 {
		return
	}
	const maxText = 16 << 20 // bytes that secequiv reads
	text, _ := io.ReadAll(io.LimitReader(file, maxText))
	if !bytes.Contains(text, []byte("@include")) {
		return
	}
	folder, _ := path.Split(name)
	for _, include := range includes.FindAllSubmatch(text, -1) {
		observeNamed(folder+string(include[1]), depth-1)
	}
}

func isFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}
