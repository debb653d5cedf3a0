"""Reading paper.toml and grading its claims."""

import pickle
from decimal import Decimal
from pathlib import Path

import pytest

from forebay.errors import UserError
from forebay.stats import Interval
from forebay.study.claims import (
    NumericClaim,
    Paper,
    PaperFileError,
    bind_predicates,
    grade_claims,
    load_paper,
    parse_paper,
)
from forebay.study.grades import (
    Grade,
    Kind,
    Measurements,
    Quantities,
    Statistic,
    Tolerance,
    Truth,
    grade_number,
    surely_greater,
)
from forebay.study.paper_schema import AbsoluteTolerance

SMALL = """
[paper]
study = "demo"
title = "A title"
authors = ["A. Author"]
venue = "A venue"
date = "1999"

[[table]]
id = "t1"
place = "Table 1"
how_read = "printed"
unit = "Mbit/s"
decimals = 2
trend = "column"
point = { scenario = 1 }
row_id = "load{load}"
row_label = "load {load}"
columns = [
  { id = "two/udp", label = "two, UDP", quantity = "udp_bps", point.p = 2 },
  { id = "loss", label = "loss", quantity = "loss_ratio", unit = "%", decimals = 1, point.p = 3 },
]
rows = [
  { point.load = 0.5, values = [4.90, 0.0] },
  { point.load = 1.0, values = [9.80, "-"], notes = { "two/udp" = "Odd." } },
  { id = "over", label = "overload", point.load = 2.0, values = [19.60, 50.0] },
]

[[statement]]
id = "s1/grows"
place = "section 1, page 2"
how_read = "quoted"
text = "It grows."
predicate = "it_grows"
"""


def paper_with(old: str, new: str) -> Paper:
    """SMALL with one piece of text replaced."""
    assert SMALL.count(old) >= 1, f"{old!r} is not in the example"
    return parse_paper(SMALL.replace(old, new, 1), Path("studies/demo/paper.toml"))


def by_id(paper: Paper) -> dict[str, NumericClaim]:
    """The numeric claims by id."""
    return {claim.id: claim for claim in paper.claims}


def test_each_cell_becomes_one_claim() -> None:
    """Each cell with a published number becomes one claim, and a "-" none."""
    claims = by_id(parse_paper(SMALL))
    assert list(claims) == [
        "t1/load0.5/two/udp",
        "t1/load0.5/loss",
        "t1/load1.0/two/udp",
        "t1/over/two/udp",
        "t1/over/loss",
    ]
    claim = claims["t1/load1.0/two/udp"]
    assert claim.place == "Table 1, load 1.0, two, UDP"
    assert claim.point == {"scenario": 1, "p": 2, "load": 1.0}
    assert (claim.quantity, claim.unit, claim.published) == ("udp_bps", "Mbit/s", 9.80)
    assert (claim.decimals, claim.how_read, claim.note) == (2, "printed", "Odd.")
    assert claim.line == claims["t1/over/two/udp"].line != claims["t1/over/loss"].line


def test_units_are_converted_one_way() -> None:
    """Measured values are converted into the published unit: bits into megabits, ratios into
    percent."""
    claims = by_id(parse_paper(SMALL))
    rate = claims["t1/over/two/udp"].in_published_unit(Interval(20e6, 19e6, 21e6, 1e6, 5))
    assert rate.mean == pytest.approx(20.0)
    assert rate.half_width == pytest.approx(1.0)
    loss = claims["t1/over/loss"].in_published_unit(Interval.known(0.5))
    assert loss.mean == pytest.approx(50.0)


def test_tolerance_follows_the_printed_digits() -> None:
    """The tolerance follows the printed digits: no value is held to more than its table prints.

    0.0 % with one decimal: rounding of 0.05 and nothing relative. 4.90: 2 % is 0.098.
    """
    claims = by_id(parse_paper(SMALL))
    assert claims["t1/load0.5/loss"].tolerance.exact == pytest.approx(0.05)
    assert claims["t1/load0.5/two/udp"].tolerance.exact == pytest.approx(0.098)
    assert claims["t1/load0.5/two/udp"].tolerance.close == pytest.approx(0.49)


def test_absolute_tolerance_is_for_values_near_zero_only() -> None:
    """A tolerance of a full scale is for values near zero only, and does not loosen the cells that
    are not zero.

    Of a full scale of 100 %, 2 % is 2 and 10 % is 10; 50.0 keeps its own 2 %, 1.
    """
    tolerance = 'absolute_tolerance = { full_scale = 100, reason = "all lost" }'
    claims = by_id(paper_with("decimals = 1,", f"decimals = 1, {tolerance},"))
    near, far = claims["t1/load0.5/loss"], claims["t1/over/loss"]
    assert (near.tolerance.exact, near.tolerance.close) == (2.0, 10.0)
    assert near.absolute_reason == "all lost"
    assert (far.tolerance.exact, far.absolute_reason) == (1.0, "")


def test_a_step_of_a_grid_counts_for_every_value() -> None:
    """A step of a grid counts for every value: two readings of one time are not told apart by the
    phase of the grid.

    A step of 2 is close and not exact: 50.0 keeps its 2 %, 1, and its 10 %, 5, which is more than
    a step; 0.0 gets the step. Differences of shares state what is exact; then it is close as well.
    """
    step = 'absolute_tolerance = { close = 2, reason = "a grid of 2" }'
    claims = by_id(paper_with("decimals = 1,", f"decimals = 1, {step},"))
    near, far = claims["t1/load0.5/loss"], claims["t1/over/loss"]
    assert (near.tolerance.exact, near.tolerance.close) == pytest.approx((0.05, 2.0))
    assert (far.tolerance.exact, far.tolerance.close) == (1.0, 5.0)
    assert near.absolute_reason == far.absolute_reason == "a grid of 2"
    share = step.replace("close", "exact")
    claims = by_id(paper_with("decimals = 1,", f"decimals = 1, {share},"))
    near, far = claims["t1/load0.5/loss"], claims["t1/over/loss"]
    assert (near.tolerance.exact, near.tolerance.close) == pytest.approx((2.0, 2.0))
    assert (far.tolerance.exact, far.tolerance.close) == pytest.approx((2.0, 5.0))


def test_one_step_off_is_within_a_step() -> None:
    """A time of 0.20 s for 0.16 s, one step of 40 ms, is close, though in floating point the
    difference is more than 0.04."""
    assert 0.20 - 0.16 > 0.04
    step = AbsoluteTolerance(close=Decimal("0.04"), reason="a grid")
    tolerance = Tolerance.around(0.16, 0.005, *step.distances(0.16))
    assert grade_number(Interval.known(0.20), tolerance, Truth.FALSE) is Grade.CLOSE
    assert grade_number(Interval.known(0.21), tolerance, Truth.FALSE) is Grade.DEVIATES


def test_an_absolute_tolerance_has_one_form() -> None:
    """An absolute tolerance has one form: without a size it grants nothing, and with two it hides
    which counts."""
    for sizes in ("", "full_scale = 100, exact = 2, "):
        tolerance = f'absolute_tolerance = {{ {sizes}reason = "because" }}'
        with pytest.raises(PaperFileError, match="either full_scale, or exact, close or both"):
            paper_with("decimals = 1,", f"decimals = 1, {tolerance},")


def test_values_read_from_a_graph_carry_their_reading_error() -> None:
    """A point read off a graph carries its reading error instead of printed digits."""
    text = SMALL.replace('how_read = "printed"', 'how_read = "graph"')
    text = text.replace("decimals = 2", "resolution = 0.5").replace(
        "decimals = 1", "resolution = 1"
    )
    claim = by_id(parse_paper(text))["t1/load0.5/two/udp"]
    assert claim.decimals is None
    assert claim.tolerance.exact == 0.5


def test_the_kind_nearest_to_a_cell_counts() -> None:
    """The kind nearest to a cell counts: that of the cell, of its row or column, then of its table,
    which is a result if nothing is said.

    Of the table "formula", of the column "input", of one row "reconstruction", of one cell there
    "repeat"; the row counts before the column.
    """
    assert {claim.kind for claim in parse_paper(SMALL).claims} == {Kind.RESULT}
    assert parse_paper(SMALL).statements[0].kind is Kind.RESULT
    text = SMALL.replace("trend =", 'kind = "formula"\ntrend =')
    text = text.replace("point.p = 2", 'point.p = 2, kind = "input"')
    text = text.replace(
        "[19.60, 50.0]",
        '[19.60, 50.0], kind = "reconstruction", kinds = { "two/udp" = "repeat" }',
    )
    text = text.replace('"it_grows"', '"it_grows"\nkind = "repeat"')
    paper = parse_paper(text)
    assert {id: str(claim.kind) for id, claim in by_id(paper).items()} == {
        "t1/load0.5/two/udp": "input",
        "t1/load0.5/loss": "formula",
        "t1/load1.0/two/udp": "input",
        "t1/over/two/udp": "repeat",
        "t1/over/loss": "reconstruction",
    }
    assert paper.statements[0].kind is Kind.REPEAT
    # What is a result in a table of checks can be said, too.
    cell = by_id(parse_paper(text.replace('"repeat" }', '"result" }')))["t1/over/two/udp"]
    assert cell.kind is Kind.RESULT


def test_what_a_check_follows_from_is_told() -> None:
    """A check is told with the statement that it follows from, which must be there and no check
    itself: a sentence of two flows counts as a result once.

    The row's `follows` counts before the table's; a result, and a statement that is not there,
    are refused.
    """
    text = SMALL.replace("trend =", 'kind = "repeat"\nfollows = "s1/grows"\ntrend =')
    assert {claim.follows for claim in parse_paper(text).claims} == {"s1/grows"}
    second = text.replace("[19.60, 50.0]", '[19.60, 50.0], follows = "s1/more"')
    with pytest.raises(PaperFileError, match=r"'s1/more'; no statement has this id"):
        parse_paper(second)
    second += '\n[[statement]]\nid = "s1/more"\nplace = "p"\nhow_read = "quoted"\ntext = "t"\n'
    second += 'predicate = "more"\n'
    claims = by_id(parse_paper(second))
    assert claims["t1/over/loss"].follows == "s1/more"
    assert claims["t1/load0.5/loss"].follows == "s1/grows"
    with pytest.raises(PaperFileError, match="a result is counted, and follows from nothing"):
        parse_paper(second + 'follows = "s1/grows"\n')
    third = second + 'kind = "repeat"\nfollows = "s1/grows"\n'
    with pytest.raises(PaperFileError, match="follows from another itself"):
        parse_paper(third)


def test_what_is_not_in_the_document_is_no_result() -> None:
    """A value that is not in the document is refused as a result, and allowed as a reconstruction.

    Reconstructed values take decimals as printed ones do, and need a kind that is not counted.
    """
    text = SMALL.replace('how_read = "printed"', 'how_read = "reconstructed"')
    text = text.replace('how_read = "quoted"', 'how_read = "reconstructed"')
    with pytest.raises(PaperFileError) as caught:
        parse_paper(text)
    assert "table[0].how_read" in str(caught.value)
    assert "statement[0].how_read (in 's1/grows')" in str(caught.value)
    text = text.replace("trend =", 'kind = "reconstruction"\ntrend =')
    text = text.replace('"it_grows"', '"it_grows"\nkind = "reconstruction"')
    claim = by_id(parse_paper(text))["t1/load0.5/two/udp"]
    assert (claim.how_read, claim.decimals, claim.kind) == (
        "reconstructed",
        2,
        Kind.RECONSTRUCTION,
    )
    with pytest.raises(PaperFileError, match="takes decimals only"):
        parse_paper(text.replace("decimals = 2", "resolution = 0.5"))
    # One cell of such a table that is called a result is found, too.
    single = text.replace("[19.60, 50.0]", '[19.60, 50.0], kinds = { "loss" = "result" }')
    with pytest.raises(PaperFileError, match="not in the document"):
        parse_paper(single)


def test_runs_and_statistic_nearest_to_a_cell_count() -> None:
    """The runs and the statistic nearest to a cell count, so that a value from three runs is
    compared as one, and the highest of three not with their mean."""
    assert {claim.runs for claim in parse_paper(SMALL).claims} == {None}
    text = SMALL.replace("trend =", "runs = 3\ntrend =")
    text = text.replace("point.p = 2", 'point.p = 2, statistic = "highest"')
    text = text.replace("[19.60, 50.0]", '[19.60, 50.0], runs = 10, statistic = "median"')
    claims = by_id(parse_paper(text))
    assert {id: (claim.runs, claim.statistic) for id, claim in claims.items()} == {
        "t1/load0.5/two/udp": (3, Statistic.HIGHEST),
        "t1/load0.5/loss": (3, Statistic.MEAN),
        "t1/load1.0/two/udp": (3, Statistic.HIGHEST),
        "t1/over/two/udp": (10, Statistic.MEDIAN),
        "t1/over/loss": (10, Statistic.MEDIAN),
    }


WRONG = [
    ("4.90", "4.9", "table[0].rows[0].values[0]", "read 4.9; write it as printed, with 2 decimals"),
    ("4.90", "5", "table[0].rows[0].values[0]", "read 5; write it as printed"),
    ("4.90", '"4.90"', "table[0].rows[0].values[0]", 'a number or "-"'),
    ("4.90", "nan", "table[0].rows[0].values[0]", "read NaN; a value is a finite number"),
    ("4.90", "true", "table[0].rows[0].values[0]", "read True"),
    ("[4.90, 0.0]", "[4.90]", "table[0].rows[0].values", "read 1 values; there are 2 columns"),
    ("how_read", "how_reed", "table[0].how_reed", 'did you mean "how_read"?'),
    ('place = "Table 1"\n', "", "table[0].place", "missing; it is required"),
    ('"column"', '"diagonal"', "table[0].trend", "'row', 'column' or 'none'"),
    ('trend = "column"', 'trend = "row"', "table[0].trend", "differ in unit"),
    ('"Mbit/s"', '"Mbps"', "table[0].columns[0].unit", "bit/s, kbit/s, Mbit/s, Gbit/s"),
    ('"udp_bps"', '"udp_rate"', "table[0].columns[0].quantity", "must end in its unit: _bps"),
    ('unit = "Mbit/s"\n', "", "table[0].columns[0]", "no unit"),
    ("decimals = 2\n", "", "table[0].columns[0]", "takes decimals only"),
    ("decimals = 2\n", "resolution = 0.1\n", "table[0].columns[0]", "takes decimals only"),
    ("point.load = 0.5", "point.lode = 0.5", "table[0].rows[1].point", "read load; the first"),
    ("{ scenario = 1 }", "{ load = 1 }", "table[0].point", "load is given 2 times"),
    ("{ scenario = 1 }", "{ scenario = [1] }", "table[0].point.scenario", "read [1]"),
    ('"load{load}"', '"load{laod}"', "table[0].row_id", 'did you mean "load"?'),
    ('"load{load}"', '"load{load"', "table[0].row_id", "expected '}'"),
    ('"load{load}"', '"Load {load}"', "table[0].rows[0]", "'Load 0.5'"),
    ('row_id = "load{load}"\n', "", "table[0].rows", "no id"),
    ('"two/udp" = "Odd."', '"udp" = "Odd."', "table[0].rows[1].notes", "no column has this id"),
    ('id = "over"', 'id = "load0.5"', "t1/load0.5/loss", "given 2 times; ids are unique"),
    ("trend =", 'kind = "imput"\ntrend =', "table[0].kind", 'did you mean "input"?'),
    ("trend =", "kind = 1\ntrend =", "table[0].kind", "result, input, formula, repeat, recon"),
    ("4.90, 0.0]", '4.90, 0.0], kind = ""', "table[0].rows[0].kind", "read ''; a kind is one of"),
    (
        "4.90, 0.0]",
        '4.90, 0.0], kinds = { "two/upd" = "input" }',
        "table[0].rows[0].kinds",
        "read 'two/upd'; no column has this id (did you mean \"two/udp\"?)",
    ),
    (
        "4.90, 0.0]",
        '4.90, 0.0], kinds = { "loss" = "repeated" }',
        "table[0].rows[0].kinds.loss",
        "read 'repeated'; a kind is one of result, input, formula, repeat, reconstruction",
    ),
    ("it_grows", 'it_grows"\nkind = "formule', "statement[0].kind", 'did you mean "formula"?'),
    ("it_grows", 'it_grows"\nruns = 3 #', "statement[0].runs", "unknown key"),
    ("trend =", "runs = 0\ntrend =", "table[0].runs", "read 0; input should be greater than"),
    ("trend =", "runs = 2.5\ntrend =", "table[0].runs", "read 2.5; input should be a valid int"),
    ("point.p = 2", 'point.p = 2, statistic = "max"', "columns[0].statistic", "mean, highest, low"),
    (
        "point.p = 2",
        'point.p = 2, statistic = "highest"',
        "table[0].rows[0].values[0]",
        'statistic is "highest", but no runs are given',
    ),
    ("[[statement]]", "[[statment]]", "statment", 'did you mean "statement"?'),
    ('predicate = "it_grows"', 'predicate = "x > 1"', "statement[0].predicate", "read 'x > 1'"),
    ('id = "t1"', "id = t1", "not valid TOML", "line 10"),
    ('date = "1999"', "date = 1999-12-31", "paper.date", "read the date 1999-12-31"),
]


@pytest.mark.parametrize(("old", "new", "where", "what"), WRONG)
def test_a_wrong_file_is_explained(old: str, new: str, where: str, what: str) -> None:
    """A slip in a file of claims is explained with the file, its place there and what is wrong."""
    with pytest.raises(PaperFileError) as caught:
        paper_with(old, new)
    message = str(caught.value)
    assert message.startswith("studies/demo/paper.toml: ")
    assert where in message
    assert what in message


def test_the_table_is_named_where_its_index_would_be_hard_to_find() -> None:
    """An error in a table is told with the table's id beside its index."""
    with pytest.raises(PaperFileError, match=r'table\[0\]\.trend \(in "t1"\)'):
        paper_with('"column"', '"diagonal"')


def test_a_file_that_cannot_be_read_is_the_users_error(tmp_path: Path) -> None:
    """A file that cannot be read is the user's error, told with the line or the key."""
    path = tmp_path / "paper.toml"
    with pytest.raises(UserError, match="no such file"):
        load_paper(path)
    path.write_bytes(b'[paper]\nstudy = "\xff"\n')
    with pytest.raises(UserError, match="line 2: not UTF-8"):
        load_paper(path)
    path.write_text("[paper]\nstudy = 7\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"paper\.study: read 7"):
        load_paper(path)


def test_unknown_predicates_are_named_with_the_nearest() -> None:
    """An unknown predicate is refused with the nearest name."""
    with pytest.raises(PaperFileError, match='did you mean "it_grew"'):
        bind_predicates(parse_paper(SMALL), {"it_grew": grows})


def test_claims_are_chosen_by_pattern() -> None:
    """A pattern of `--claims` chooses the claims and statements whose ids match it."""
    paper = parse_paper(SMALL)
    claims, statements = paper.select("t1/*/udp")
    assert [claim.id for claim in claims] == [c for c in by_id(paper) if c.endswith("udp")]
    assert statements == []
    assert [entry.id for entry in paper.select("s1/*")[1]] == ["s1/grows"]


def test_claims_travel_to_other_processes() -> None:
    """Claims can be sent to other processes, as a parallel study does."""
    paper = parse_paper(SMALL)
    assert pickle.loads(pickle.dumps(paper)) == paper


def test_grading_a_paper_end_to_end() -> None:
    """Unit, line and tolerance together give the grades of a paper.

    Column two/udp publishes 4.90, 9.80, 19.60. Measured 4.9 is exact; 12 and 30 are off by more
    than 10 % but in order; the loss at the first row was not measured and is left out.
    """
    paper = parse_paper(SMALL)
    runs = Measurements()
    for load, rate in ((0.5, 4.9e6), (1.0, 12e6), (2.0, 30e6)):
        point = {"scenario": 1, "p": 2, "load": load}
        runs.record(point, "udp_bps", Interval(rate, rate - 1e4, rate + 1e4, 1e4, 10))
    overload = {"scenario": 1, "p": 3, "load": 2.0}
    runs.record(overload, "loss_ratio", Interval(0.7, 0.69, 0.71, 0.01, 10))
    grades = grade_claims(paper, runs, {"s1/grows": grows})
    assert grades == {
        "t1/load0.5/two/udp": Grade.EXACT,
        "t1/load1.0/two/udp": Grade.TREND,
        "t1/over/two/udp": Grade.TREND,
        # Its line has a cell that was not measured: whether it is a trend is not known.
        "t1/over/loss": Grade.IMPRECISE,
    }


def grows(run: Quantities) -> Truth:
    """A predicate that asks for something that was not measured."""
    return surely_greater(run.value("delay_s", load=1.0), 0.0)
