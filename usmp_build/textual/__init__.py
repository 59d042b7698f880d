"""The textual form of models: `text` reads and writes whole models, the other modules their parts."""
