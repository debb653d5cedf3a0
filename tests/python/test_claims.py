"""Reading paper.toml, and the af study's claims: transcription, predicates, the paper on itself."""

import importlib.util
import pickle
from collections import defaultdict
from decimal import Decimal
from inspect import isfunction
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
    published_measurements,
)
from forebay.study.grades import (
    Grade,
    Kind,
    Measurements,
    Predicate,
    Quantities,
    Statistic,
    Tolerance,
    Truth,
    grade_number,
    points_needed,
    surely_greater,
)
from forebay.study.paper_schema import AbsoluteTolerance

AF = Path(__file__).resolve().parents[2] / "studies" / "af"

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
    """A published number would be missing from the comparison, or a "-" be compared."""
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
    """Megabits would be compared with bits, or percent with ratios."""
    claims = by_id(parse_paper(SMALL))
    rate = claims["t1/over/two/udp"].in_published_unit(Interval(20e6, 19e6, 21e6, 1e6, 5))
    assert rate.mean == pytest.approx(20.0)
    assert rate.half_width == pytest.approx(1.0)
    loss = claims["t1/over/loss"].in_published_unit(Interval.known(0.5))
    assert loss.mean == pytest.approx(50.0)


def test_tolerance_follows_the_printed_digits() -> None:
    """A value would be held to more digits than its table prints.

    0.0 % with one decimal: rounding of 0.05 and nothing relative. 4.90: 2 % is 0.098.
    """
    claims = by_id(parse_paper(SMALL))
    assert claims["t1/load0.5/loss"].tolerance.exact == pytest.approx(0.05)
    assert claims["t1/load0.5/two/udp"].tolerance.exact == pytest.approx(0.098)
    assert claims["t1/load0.5/two/udp"].tolerance.close == pytest.approx(0.49)


def test_absolute_tolerance_is_for_values_near_zero_only() -> None:
    """A tolerance granted for a loss of zero would loosen the cells that are not zero.

    Of a full scale of 100 %, 2 % is 2 and 10 % is 10; 50.0 keeps its own 2 %, 1.
    """
    tolerance = 'absolute_tolerance = { full_scale = 100, reason = "all lost" }'
    claims = by_id(paper_with("decimals = 1,", f"decimals = 1, {tolerance},"))
    near, far = claims["t1/load0.5/loss"], claims["t1/over/loss"]
    assert (near.tolerance.exact, near.tolerance.close) == (2.0, 10.0)
    assert near.absolute_reason == "all lost"
    assert (far.tolerance.exact, far.absolute_reason) == (1.0, "")


def test_a_step_of_a_grid_counts_for_every_value() -> None:
    """Two readings of one time on the same grid would be told apart by the phase of the grid.

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
    """A time of 0.20 s for 0.16 s, one step of 40 ms, would not be close: in floating point the
    difference is more than 0.04."""
    assert 0.20 - 0.16 > 0.04
    step = AbsoluteTolerance(close=Decimal("0.04"), reason="a grid")
    tolerance = Tolerance.around(0.16, 0.005, *step.distances(0.16))
    assert grade_number(Interval.known(0.20), tolerance, Truth.FALSE) is Grade.CLOSE
    assert grade_number(Interval.known(0.21), tolerance, Truth.FALSE) is Grade.DEVIATES


def test_an_absolute_tolerance_has_one_form() -> None:
    """A tolerance without a size would grant nothing, one with two would hide which counts."""
    for sizes in ("", "full_scale = 100, exact = 2, "):
        tolerance = f'absolute_tolerance = {{ {sizes}reason = "because" }}'
        with pytest.raises(PaperFileError, match="either full_scale, or exact, close or both"):
            paper_with("decimals = 1,", f"decimals = 1, {tolerance},")


def test_values_read_from_a_graph_carry_their_reading_error() -> None:
    """A point read off a plot would be taken for a printed number."""
    text = SMALL.replace('how_read = "printed"', 'how_read = "graph"')
    text = text.replace("decimals = 2", "resolution = 0.5").replace(
        "decimals = 1", "resolution = 1"
    )
    claim = by_id(parse_paper(text))["t1/load0.5/two/udp"]
    assert claim.decimals is None
    assert claim.tolerance.exact == 0.5


def test_the_kind_nearest_to_a_cell_counts() -> None:
    """A parameter echoed would be counted as a result of the paper, or a result not be counted.

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
    """A sentence of two flows would be counted as a result for each of them.

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
    """A value of our own would be printed as read from the paper, or counted for it.

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
    """A value from three runs would be compared as if it were known without error, or the highest
    of three with their mean."""
    assert {claim.runs for claim in parse_paper(SMALL).claims} == {None}
    text = SMALL.replace("trend =", "runs = 3\ntrend =")
    text = text.replace("point.p = 2", 'point.p = 2, statistic = "highest"')
    text = text.replace("[19.60, 50.0]", '[19.60, 50.0], runs = 1, statistic = "mean"')
    claims = by_id(parse_paper(text))
    assert {id: (claim.runs, claim.statistic) for id, claim in claims.items()} == {
        "t1/load0.5/two/udp": (3, Statistic.HIGHEST),
        "t1/load0.5/loss": (3, Statistic.MEAN),
        "t1/load1.0/two/udp": (3, Statistic.HIGHEST),
        "t1/over/two/udp": (1, Statistic.MEAN),
        "t1/over/loss": (1, Statistic.MEAN),
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
    """An author would get a traceback, or a slip would pass unnoticed into the comparison."""
    with pytest.raises(PaperFileError) as caught:
        paper_with(old, new)
    message = str(caught.value)
    assert message.startswith("studies/demo/paper.toml: ")
    assert where in message
    assert what in message


def test_the_table_is_named_where_its_index_would_be_hard_to_find() -> None:
    """The author of a file with twenty tables would have to count them."""
    with pytest.raises(PaperFileError, match=r'table\[0\]\.trend \(in "t1"\)'):
        paper_with('"column"', '"diagonal"')


def test_a_file_that_cannot_be_read_is_the_users_error(tmp_path: Path) -> None:
    """A user would see a traceback, and the command would end with the wrong status."""
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
    """A statement would quietly go without a verdict."""
    with pytest.raises(PaperFileError, match='did you mean "it_grew"'):
        bind_predicates(parse_paper(SMALL), {"it_grew": grows})


def test_claims_are_chosen_by_pattern() -> None:
    """`--claims` would run the wrong cells."""
    paper = parse_paper(SMALL)
    claims, statements = paper.select("t1/*/udp")
    assert [claim.id for claim in claims] == [c for c in by_id(paper) if c.endswith("udp")]
    assert statements == []
    assert [entry.id for entry in paper.select("s1/*")[1]] == ["s1/grows"]


def test_claims_travel_to_other_processes() -> None:
    """A parallel study would fail the moment it has more than one worker."""
    paper = parse_paper(SMALL)
    assert pickle.loads(pickle.dumps(paper)) == paper


def test_grading_a_paper_end_to_end() -> None:
    """Unit, line and tolerance would each be right and their combination wrong.

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


def af_predicates() -> dict[str, Predicate]:
    """The public functions of studies/af/predicates.py, which is not part of any package."""
    spec = importlib.util.spec_from_file_location("af_predicates", AF / "predicates.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    own = {name: function for name, function in vars(module).items() if isfunction(function)}
    return {
        name: function
        for name, function in own.items()
        if function.__module__ == module.__name__ and not name.startswith("_")
    }


@pytest.fixture(scope="module")
def af() -> Paper:
    """The af study's claims."""
    return load_paper(AF / "paper.toml")


@pytest.fixture(scope="module")
def bound(af: Paper) -> dict[str, Predicate]:
    """The af study's predicates by statement id."""
    return bind_predicates(af, af_predicates())


# Sums of the printed columns of the draft, in hundredths exact, first column to last.
AF_COLUMN_SUMS = {
    "t3.1": ["172.25", "269.06", "417.23", "24.55"],
    "t3.2": ["176.72", "264.80", "417.18", "24.53"],
    "t3.3": ["177.82", "263.48", "417.27", "24.75"],
    "t4.2": ["11.43", "9.65", "84.00", "64.83"],
    "t4.3": ["10.37", "9.95", "97.85", "51.73"],
    "t4.4": ["32.72", "14.99", "111.01", "11.19"],
    "t4.5": ["30.80", "17.50", "110.36", "11.25"],
}


def af_cells(paper: Paper) -> dict[tuple[str, str, str], Decimal]:
    """Published values by table, row and column."""
    cells = {}
    for claim in paper.claims:
        table, row, column = claim.id.split("/", 2)
        cells[table, row, column] = Decimal(str(claim.published))
    return cells


def test_af_columns_add_up_to_the_printed_ones(af: Paper) -> None:
    """A digit of the draft would have been copied wrongly."""
    sums: dict[str, dict[str, Decimal]] = defaultdict(lambda: defaultdict(Decimal))
    for (table, _, column), value in af_cells(af).items():
        sums[table][column] += value
    order = {
        "t3": ["two/tcp", "two/udp", "three/tcp", "three/udp"],
        "t4": ["customer1", "customer2", "customer3", "customer4"],
    }
    found = {table: [by[c] for c in order[table[:2]]] for table, by in sums.items()}
    assert found == {t: [Decimal(text) for text in texts] for t, texts in AF_COLUMN_SUMS.items()}
    # 13 UDP rates with four columns, less UDP at rate 0 with two and three; 4 tables of 5 by 4.
    assert len(af.claims) == 3 * (13 * 4 - 2) + 4 * 5 * 4


def test_af_rows_fill_the_link(af: Paper) -> None:
    """Two slips in a column would cancel, or a row be entered at another's place.

    All traffic crosses one 34 Mbit/s link that is never idle for long, so TCP and UDP (or the
    four customers) together get at most 34.00, give or take 0.01 of rounding, and at least 0.4 %
    less. The draft itself breaks this in three rows, which paper.toml notes.
    """
    sums: dict[tuple[str, str, str], Decimal] = defaultdict(Decimal)
    for (table, row, column), value in af_cells(af).items():
        sums[table, row, column.split("/")[0] if table < "t4" else ""] += value
    alone = {key: value for key, value in sums.items() if key[1] == "udp0"}
    assert set(alone.values()) == {Decimal("33.98")}
    off = {k: v for k, v in sums.items() if not Decimal("33.87") <= v <= Decimal("34.01")}
    assert off == {
        ("t3.1", "udp10", "two"): Decimal("34.10"),
        ("t3.2", "udp20", "two"): Decimal("34.03"),
        ("t3.2", "udp60", "two"): Decimal("34.28"),
    }
    noted = {claim.id.rsplit("/", 1)[0] for claim in af.claims if claim.note}
    assert noted == {"/".join(key) for key in off}


def test_af_points_name_every_run_once(af: Paper) -> None:
    """Two cells would be compared with the same measurement, or a cell with another's run."""
    keys = {(claim.quantity, *sorted(claim.point.items())) for claim in af.claims}
    assert len(keys) == len(af.claims)
    claim = by_id(af)["t3.2/udp30/three/udp"]
    assert claim.point == {"scenario": 2, "precedences": 3, "udp_mbps": 30}
    assert (claim.quantity, claim.published) == ("udp_bps", 2.07)
    assert claim.place == "Table 3.2, UDP 30, three precedences, UDP"
    shaped = by_id(af)["t4.5/cbs10/customer3"]
    assert shaped.point == {"cbs_kb": 10, "precedences": 3, "ras": True}
    assert (shaped.quantity, shaped.published) == ("customer3_bps", 22.19)


def test_af_statements_ask_only_for_published_runs(af: Paper, bound: dict[str, Predicate]) -> None:
    """A sentence would be judged on a grid point that no table has, or on none at all."""
    published = {(c.quantity, frozenset(c.point.items())) for c in af.claims}
    for statement in af.statements:
        needed = {(q, frozenset(point.items())) for point, q in points_needed(bound[statement.id])}
        assert needed, statement.id
        assert needed <= published, statement.id


def test_every_af_predicate_is_used(af: Paper) -> None:
    """A sentence would have been operationalised and then forgotten."""
    assert {s.predicate for s in af.statements} == set(af_predicates())


# Sentences of the draft that its own tables contradict, found by judging them on the tables.
AF_CONTRADICTED = {
    # Table 3.1: 7.80 and 6.34 of the 6 reserved, at UDP rates of 30 and 35 > 28.
    "s3/two/low-cbs-misses-cir",
    # Tables 4.4 and 4.5: customer 2 gets 2.97 without and 3.64 with the shaper at 500 KB.
    "s4/three-ras/close-to-without",
    # Table 4.2: customer 3 at best 19.41 of 20, as the section itself says further up.
    "s4/two/cir-with-appropriate-cbs",
}


def test_af_on_its_own_numbers(af: Paper, bound: dict[str, Predicate]) -> None:
    """A predicate would not mean what its sentence says, which was written from these tables."""
    grades = grade_claims(af, published_measurements(af), bound)
    assert {grades[claim.id] for claim in af.claims} == {Grade.EXACT}
    failing = {s.id for s in af.statements if grades[s.id] is Grade.FAILS}
    assert failing == AF_CONTRADICTED
    assert all(s.note for s in af.statements if s.id in AF_CONTRADICTED)
    others = {grades[s.id] for s in af.statements if s.id not in AF_CONTRADICTED}
    assert others == {Grade.HOLDS}


def test_each_sentence_of_af_counts_once(af: Paper) -> None:
    """A sentence that fails would be made up for by a weaker reading of it that holds.

    The draft prints every cell; of its sentences, two that its own tables contradict are judged in
    weaker words as well, and one is only implied ("Customer 2 succeeds to use its CIR for high
    values of the CBS", section 4).
    """
    assert {claim.kind for claim in af.claims} == {Kind.RESULT}
    checks = {entry.id: entry.kind for entry in af.statements if entry.kind is not Kind.RESULT}
    assert checks == {
        "s3/two/low-cbs-misses-cir-mostly": Kind.REPEAT,
        "s4/three-ras/small-shift": Kind.REPEAT,
        "s4/two/customer2-misses-cir-small-cbs": Kind.RECONSTRUCTION,
    }
    # The draft does not tell how many simulations a cell is from.
    assert {claim.runs for claim in af.claims} == {None}


def reversed_world(paper: Paper) -> Measurements:
    """Two and three precedences exchanged, and with them what the draft is about."""
    runs = Measurements()
    for claim in paper.claims:
        point = {**claim.point, "precedences": 5 - int(claim.point["precedences"])}
        runs.record(point, claim.quantity, Interval.known(claim.published * claim.unit_size))
    return runs


def starved_world(paper: Paper) -> Measurements:
    """No flow gets anything."""
    runs = Measurements()
    for claim in paper.claims:
        runs.record(claim.point, claim.quantity, Interval.known(0.0))
    return runs


def uneven_world(paper: Paper) -> Measurements:
    """The published values, doubled and halved in turn from row to row."""
    runs = Measurements()
    for index, claim in enumerate(paper.claims):
        value = claim.published * claim.unit_size * (2.0 if (index // 4) % 2 else 0.5)
        runs.record(claim.point, claim.quantity, Interval.known(value))
    return runs


def test_every_af_sentence_can_fail(af: Paper, bound: dict[str, Predicate]) -> None:
    """A predicate would hold whatever the network does."""
    worlds = [world(af) for world in (reversed_world, starved_world, uneven_world)]
    verdicts = [grade_claims(af, world, bound) for world in worlds]
    never = {s.id for s in af.statements if all(v[s.id] is not Grade.FAILS for v in verdicts)}
    assert never == set()


def test_af_sentences_are_undecided_when_nothing_is_known(
    af: Paper, bound: dict[str, Predicate]
) -> None:
    """A verdict would be given on a single replication, whose spread is unknown."""
    runs = Measurements()
    for claim in af.claims:
        value = claim.published * claim.unit_size
        runs.record(claim.point, claim.quantity, Interval(value, -1e12, 1e12, 1e12, 1))
    assert set(grade_claims(af, runs, bound).values()) == {Grade.IMPRECISE}
