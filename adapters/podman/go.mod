module secequiv/adapters/podman

go 1.26.0

require (
	github.com/containers/common v0.64.2
	github.com/secequiv/secequiv/api/go v0.0.0
	secequiv/adapters/oci v0.0.0
)

require (
	github.com/opencontainers/runtime-spec v1.3.0 // indirect
	github.com/seccomp/libseccomp-golang v0.12.0 // indirect
	golang.org/x/sys v0.34.0 // indirect
)

replace (
	github.com/secequiv/secequiv/api/go => ../../api/go
	secequiv/adapters/oci => ../oci
)
