"""Models as text: `text` is both ways, the other modules read and write the parts."""
