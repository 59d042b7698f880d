"""A model whose layers run row by row through images of other sizes, as text."""


def resized(dtype: str) -> str:
    """Return a net of int8 or float32 that makes an image twice as high, twice again, and a quarter as high."""
    like = "scale=0.1 zero=3" if dtype == "int8" else ""
    return f"""
    %0 "x" {dtype}[1,6,4,3] {like}
    %1 "a" {dtype}[1,6,4,3] {like}
    %2 "twice" int32[2] = [12, 8]
    %3 "b" {dtype}[1,12,8,3] {like}
    %4 "c" {dtype}[1,12,8,3] {like}
    %5 "again" int32[2] = [24, 16]
    %6 "d" {dtype}[1,24,16,3] {like}
    %7 "e" {dtype}[1,24,16,3] {like}
    %8 "f" {dtype}[1,6,4,48] {like}
    %9 "y" {dtype}[1,6,4,48] {like}
    inputs %0
    outputs %9
    %1 = MAX_POOL_2D(%0) filter_h=2 filter_w=2
    %3 = RESIZE_BILINEAR(%1, %2) half_pixel_centers=true
    %4 = AVERAGE_POOL_2D(%3) filter_h=3 filter_w=3
    %6 = RESIZE_NEAREST_NEIGHBOR(%4, %5)
    %7 = MAX_POOL_2D(%6) filter_h=3 filter_w=3
    %8 = SPACE_TO_DEPTH(%7) block_size=4
    %9 = MAX_POOL_2D(%8) filter_h=2 filter_w=2
"""
