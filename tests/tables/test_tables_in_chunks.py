"""Columns of text in chunks and on Dask are refused by name, before anything is read."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from labelcover import LabelCoverClassifier
from labelcover.chunks import ChunkError, open_chunks

SAID = r"column 'subject' holds .*str.*, expected numbers, as columns of chunks are not encoded"


def test_a_parquet_file_with_text_is_refused_when_it_is_opened(tmp_path):
    columns = {"x": [1.0, 2.0], "subject": ["one", "two"], "is": [0, 1]}
    parquet.write_table(pa.table(columns), tmp_path / "t.parquet")
    with pytest.raises(ChunkError, match=SAID):
        open_chunks(tmp_path / "t.parquet", ["is"])


def test_a_frame_of_dask_with_text_is_refused_unread():
    pytest.importorskip("dask")
    from dask import dataframe

    def never(*_):
        raise AssertionError("a chunk was read")

    frame = pd.DataFrame({"x": [1.0, 2.0], "subject": ["one", "two"]})
    lazy = dataframe.from_pandas(frame, npartitions=1).map_partitions(never, meta=frame)
    y = dataframe.from_pandas(pd.DataFrame({"is": np.array([0, 1])}), npartitions=1)
    with pytest.raises(ChunkError, match=SAID):
        LabelCoverClassifier().fit(lazy, y)
