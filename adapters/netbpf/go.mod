module secequiv/adapters/netbpf

go 1.26.0

require (
	github.com/secequiv/secequiv/api/go v0.0.0
	golang.org/x/net v0.62.0
)

replace github.com/secequiv/secequiv/api/go => ../../api/go
