module github.com/secequiv/secequiv/api/go/wasm

go 1.21

require github.com/tetratelabs/wazero v1.8.1
