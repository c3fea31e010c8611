module github.com/secequiv/secequiv/api/go

go 1.21
