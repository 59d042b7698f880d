"""Labels of a memory map: each is on the bars that it names."""

from usmp_build.report.page.labels import fitted, labels
from usmp_build.report.page.shapes import Rectangle, Shape

HIGH, LOW = 20.0, 8.0


def shape(*rectangles: Rectangle, label: str = "conv_1/Relu") -> Shape:
    return Shape(0, 0, True, label, label, len(rectangles), 320, rectangles)


def bar(left: float, right: float, top: float, height: float = HIGH) -> Rectangle:
    return Rectangle(left, top, right, top + height)


def test_rows_in_two_bands_have_their_label_on_one_of_them_and_not_between() -> None:
    above, below = bar(0, 300, 0), bar(0, 90, 200)
    (label,) = labels([shape(below, above)])
    assert label.lines == ("conv_1/Relu",)
    assert 0 < label.y <= HIGH
    assert label.x == 150


def test_rows_side_by_side_are_one_bar() -> None:
    rows = [bar(30.0 * number, 30.0 * number + 29, 100) for number in range(4)]
    (label,) = labels([shape(*rows)])
    assert (label.x, label.lines) == (59.5, ("conv_1/Relu",))
    assert labels([shape(rows[0], rows[2])]) == ()  # with a gap, neither has room


def test_a_bar_that_is_too_thin_has_no_label() -> None:
    assert labels([shape(bar(0, 300, 0, LOW), bar(0, 300, 100, LOW))]) == ()


def test_a_place_that_is_taken_is_left_for_the_next_one() -> None:
    wide = bar(0, 120, 50)
    first, second = labels([shape(wide), shape(wide, bar(300, 420, 50), label="add_2/Sum")])
    assert (first.x, second.x) == (60, 360)


def test_a_name_that_is_cut_keeps_its_end() -> None:
    assert fitted("activation_4/Relu", 75) == "act…_4/Relu"
    assert fitted("activation_4/Relu", 108) == "activation_4/Relu"
    assert fitted("activation_4/Relu", 37) == ""
