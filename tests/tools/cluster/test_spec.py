"""What a user may call a cluster."""

import pytest

from omnizarr.errors import SelectionError, StoreError
from omnizarr.tools.cluster.crew import Crew
from omnizarr.tools.cluster.spec import Local, cluster_spec


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("local:3", Local(3)),
        ("local:2,memory=512MB", Local(2, 512_000_000)),
        ("local:2,memory=1GiB,threads=4", Local(2, 1 << 30, 4)),
        ("tcp://head:8786", "tcp://head:8786"),
        ("head:8786", "head:8786"),
    ],
)
def test_words_are_understood(text, expected):
    assert cluster_spec(text) == expected


@pytest.mark.parametrize(
    "text", ["", "local", "local:", "local:0", "local:x", "local:2,memory=much", "local:2,a=1", "head"]
)
def test_other_words_are_refused(text):
    with pytest.raises(SelectionError, match="tcp://"):
        cluster_spec(text)


def test_a_scheduler_that_does_not_answer_is_an_error(monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("omnizarr.tools.cluster.crew._WAIT", 0.3)
    with pytest.raises(StoreError, match="does not answer"), Crew("tcp://127.0.0.1:9"):
        pass
