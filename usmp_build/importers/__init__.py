"""The doors for models: each importer turns the bytes of one kind of file into an `ir.graph.Model`."""
