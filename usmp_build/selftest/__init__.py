"""Runs generated C on this machine, and compares every tensor with what defines it: the verb is `cli/selftest.py`."""
