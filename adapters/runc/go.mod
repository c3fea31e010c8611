module secequiv/adapters/runc

go 1.26.0

require (
	github.com/opencontainers/runc v1.5.2
	github.com/opencontainers/runtime-spec v1.3.0
	github.com/secequiv/secequiv/api/go v0.0.0
	golang.org/x/sys v0.49.0
	secequiv/adapters/oci v0.0.0
)

require (
	cyphar.com/go-pathrs v0.2.6 // indirect
	github.com/coreos/go-systemd/v22 v22.7.0 // indirect
	github.com/cyphar/filepath-securejoin v0.7.0 // indirect
	github.com/godbus/dbus/v5 v5.2.2 // indirect
	github.com/moby/sys/mountinfo v0.7.2 // indirect
	github.com/moby/sys/userns v0.2.1 // indirect
	github.com/opencontainers/cgroups v0.1.0 // indirect
	github.com/seccomp/libseccomp-golang v0.12.0 // indirect
	github.com/sirupsen/logrus v1.9.4 // indirect
	golang.org/x/net v0.55.0 // indirect
)

replace (
	github.com/secequiv/secequiv/api/go => ../../api/go
	secequiv/adapters/oci => ../oci
)
