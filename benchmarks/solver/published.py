"""CPU seconds of MiniMalloc for the instances published with it, at capacity 1,048,576.

Built from commit 9f5cf81 in Release mode with gcc 12.2 and run on one core of a shared machine, the median of three;
the times include the start of the process and reading the file, some milliseconds.
"""

MINIMALLOC = {"A": 5.97, "B": 4.25, "C": 0.77, "D": 3.98, "E": 4.18}
