module secequiv/adapters/oci

go 1.26.0

require (
	github.com/opencontainers/runtime-spec v1.3.0
	github.com/seccomp/libseccomp-golang v0.12.0
	github.com/secequiv/secequiv/api/go v0.0.0
)

replace github.com/secequiv/secequiv/api/go => ../../api/go
