"""Lists of AQMs as people type them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sojourn.describing.aqm_list import split, split_all
from sojourn.errors import InputError

NAME = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
VALUE = st.from_regex(r"[0-9]{1,3}(ms|p|kB|mbit|)", fullmatch=True)
DIALECT = st.one_of(st.just(""), NAME.map(lambda name: f"@{name}"))
KIND = st.one_of(
    st.tuples(NAME, DIALECT).map("".join),
    st.tuples(NAME, DIALECT).map(lambda parts: f"fq({''.join(parts)})"),
)
PARAMS = st.lists(st.tuples(NAME, VALUE).map("=".join), max_size=3).map(",".join)
AQM = st.tuples(KIND, PARAMS).map(lambda parts: ":".join(filter(None, parts)))


@pytest.mark.slow
@given(st.lists(AQM, min_size=1, max_size=6))
def test_a_joined_list_splits_into_its_parts(aqms):
    assert split(",".join(aqms)) == aqms


@given(st.text(alphabet="ab:=,() @", max_size=20))
def test_any_text_is_split_or_refused_with_a_sentence(text):
    try:
        parts = split(text)
    except InputError as error:
        assert text in str(error)
    else:
        assert all(parts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("taildrop,codel", ["taildrop", "codel"]),
        ("pie:target=5ms,tupdate=5ms,codel", ["pie:target=5ms,tupdate=5ms", "codel"]),
        (
            "fq(pie@linux):quantum=300B,limit=10p,pie",
            ["fq(pie@linux):quantum=300B,limit=10p", "pie"],
        ),
        ("fq(a,b),codel", ["fq(a,b)", "codel"]),
        (" pie , codel ", ["pie", "codel"]),
        ("pie,target=5ms", ["pie:target=5ms"]),
    ],
)
def test_commas_between_parameters_do_not_split(text, expected):
    assert split(text) == expected


@pytest.mark.parametrize(
    ("text", "word"),
    [("", "nothing"), ("pie,,codel", "nothing"), ("target=5ms", "which AQM"), ("fq(pie", "`)`"),
     ("pie)", "`)`")],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(text, word):
    with pytest.raises(InputError, match="aqms") as refused:
        split(text)
    assert word in str(refused.value)


def test_an_aqm_twice_is_refused_across_lists():
    with pytest.raises(InputError, match="twice"):
        split_all(["pie,codel", "pie"])
