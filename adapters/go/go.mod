module secequiv/adapters

go 1.26.3
