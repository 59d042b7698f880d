"""Importers: each reads one kind of file into an `ir.graph.Model`."""
