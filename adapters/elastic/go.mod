module secequiv/adapters/elastic

go 1.26.0

require (
	github.com/elastic/go-seccomp-bpf v1.6.0
	github.com/secequiv/secequiv/api/go v0.0.0
	golang.org/x/net v0.62.0
)

require golang.org/x/sys v0.49.0 // indirect

replace github.com/secequiv/secequiv/api/go => ../../api/go
