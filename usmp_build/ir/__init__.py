"""The nouns of models and of what happens when: graph, options, schedule, storage, lifetimes, text."""
