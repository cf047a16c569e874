"""Files that were made to do harm, or were harmed: a seed gives a name and what is in the file."""

from __future__ import annotations

import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable

WORDS = ["red", "größe", "a b", "", "NA", "1,5", "2024-01-02", "=1+1", "\x1b[31m", "x" * 50, "日本"]
TAGS = ["p", "q", "p;q", "q;r", "", "p;r"]
LONG = 300_000


def hostile_file(seed: int) -> tuple[str, bytes]:
    """Return the suffix and the content of the file of a seed."""
    chance = random.Random(seed)
    make = chance.choice(MAKERS)
    suffix, content = make(chance)
    for _ in range(chance.choice([0, 1, 1, 2, 3])):
        content = chance.choice(HARMS)(chance, content)
    if suffix in (".csv", ".jsonl") and chance.random() < 0.15:
        suffix, content = suffix + ".gz", gzip.compress(content, 1)
        content = chance.choice([*HARMS, lambda _, same: same])(chance, content)
    return suffix, content


def csv_file(chance: random.Random) -> tuple[str, bytes]:
    """Return a table of words, numbers and tags, with any delimiter, line end and encoding."""
    delimiter, end = chance.choice(",;\t|:"), chance.choice(["\n", "\n", "\r\n", "\r"])
    names = ["id", "size", "note", "tags"][: chance.choice([4, 4, 4, 4, 3, 1])]
    rows = [delimiter.join(names)] if chance.random() < 0.9 else []
    for i in range(chance.choice([0, 1, 5, 60, 2000])):
        cells = [str(i), f"{chance.gauss(0, 10):.3f}", chance.choice(WORDS), chance.choice(TAGS)]
        quoted = [f'"{cell}"' if chance.random() < 0.1 else cell for cell in cells]
        rows.append(delimiter.join(quoted[: len(names)]))
    text = end.join(rows)
    encoding = chance.choice(["utf-8"] * 5 + ["utf-8-sig", "utf-16", "utf-32", "cp1252", "cp037"])
    return ".csv", text.encode(encoding, errors="replace")


def wide_file(chance: random.Random) -> tuple[str, bytes]:
    """Return a table of many columns and few rows."""
    n = chance.choice([1000, 20_000])
    row = ",".join(chance.choice(["1", "x", "0.5"]) for _ in range(n))
    return ".csv", (",".join(f"c{j}" for j in range(n)) + ",tags\n" + f"{row},p\n" * 4).encode()


def many_tags(chance: random.Random) -> tuple[str, bytes]:
    """Return a table of which every tag is in two rows only."""
    n = chance.choice([500, 60_000])
    rows = "".join(f"{i % 7},t{i // 2};u{i // 2}\n" for i in range(n))
    return ".csv", ("a,tags\n" + rows).encode()


def json_file(chance: random.Random) -> tuple[str, bytes]:
    """Return JSON lines, nested or with many keys now and then."""
    kind = chance.choice(["plain", "plain", "nested", "keys", "mixed"])
    rows: list[object] = []
    for i in range(chance.choice([1, 60, 3000])):
        row: dict[str, object] = {
            "size": i % 9,
            "note": chance.choice(WORDS),
            "tags": ["p", "qr"[i % 2]],
        }
        if kind == "keys":
            row[f"key {i}"] = 1
        if kind == "mixed" and chance.random() < 0.1:
            row["size"] = chance.choice([None, "x", [1], {"a": {}}, 10**30, True])
        rows.append(row)
    lines = [json.dumps(row) for row in rows]
    if kind == "nested":
        depth = chance.choice([50, 101, 5000, 100_000])
        deep = chance.choice(["[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth])
        lines.append('{"size": 1, "tags": ["p"], "deep": ' + deep + "}")
    return ".jsonl", "\n".join(lines).encode()


def libsvm_file(chance: random.Random) -> tuple[str, bytes]:
    """Return LIBSVM rows with great indices, odd labels and remarks now and then."""
    labels = ["1", "2", "1,2", "1000001", "", "nan", "1e400", "-0"]
    greatest = chance.choice([9, 9, 9, 2**31 - 2, 2**31, 2**64])
    odd = chance.choice([2, 4, len(labels)])
    rows = [
        f"{chance.choice(labels[:odd])} 1:{i} {chance.randint(2, greatest)}:0.5"
        + chance.choice(["", "", " # 0:1"])
        for i in range(chance.choice([1, 50, 3000]))
    ]
    return ".svm", "\n".join(rows).encode()


def arff_file(chance: random.Random) -> tuple[str, bytes]:
    """Return an ARFF file in the way of MEKA, dense or sparse."""
    sparse = chance.random() < 0.5
    header = "@relation 'toy: -C 2'\n@attribute l {0,1}\n@attribute m {0,1}\n@attribute a numeric\n"
    header += chance.choice(["", "@attribute b {x,'y z'}\n", "@attribute s string\n"])
    dense = [f"{i % 2},{i % 3 % 2},{i / 7}" for i in range(40)]
    rows = [f"{{0 {i % 2}, 2 {i}}}" for i in range(40)] if sparse else dense
    return ".arff", (header + "@data\n" + "\n".join(rows)).encode()


def parquet_file(chance: random.Random) -> tuple[str, bytes]:
    """Return a Parquet file; now and then one of very many rows that are all alike."""
    import pyarrow as pa
    from pyarrow import parquet

    n = chance.choice([3, 50, 50, 5_000_000])
    columns = {"size": pa.array([1.0]), "note": pa.array(["a b"]), "tags": pa.array(["p"])}
    if n <= 50:
        cells = [[chance.random() for _ in range(n)], [chance.choice(WORDS) for _ in range(n)]]
        columns = {"size": cells[0], "note": cells[1], "tags": [TAGS[i % 3] for i in range(n)]}
        table = pa.table(columns)
    else:
        table = pa.table({k: pa.repeat(v[0], n) for k, v in columns.items()})
    sink = io.BytesIO()
    parquet.write_table(table, sink)
    return ".parquet", sink.getvalue()


def model_file(chance: random.Random) -> tuple[str, bytes]:
    """Return a model with parts left out or replaced, or packed zeros."""
    import skops.io

    from labelcover.learners import LogisticClassifier
    from labelcover.models import FORMAT

    content = {
        "format": FORMAT,
        "estimator": LogisticClassifier(),
        "feature_names": ["a"],
        "label_names": ["l"],
        "categories": {},
        "trained_on": "toy",
    }
    for key in chance.sample(sorted(content), chance.randint(0, 2)):
        content[key] = chance.choice([None, 1, "x", [], {}, b"\0"])
    packed = io.BytesIO(skops.io.dumps(content))
    if chance.random() < 0.3:
        with zipfile.ZipFile(packed, "a", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("large.npy", bytes(chance.choice([10**6, 3 * 10**8])))
    return ".skops", packed.getvalue()


def bomb(chance: random.Random) -> tuple[str, bytes]:
    """Return a little gzip that unpacks to very much."""
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as file:
        file.write(b"a,tags\n")
        block = chance.choice([b"\n", b"1,p\n", b",\n", b"0", b'"'])
        for _ in range(chance.choice([3, 300])):
            file.write(block * ((1 << 20) // len(block)))
    return ".csv.gz", packed.getvalue()


def cut(chance: random.Random, content: bytes) -> bytes:
    """Leave out the end."""
    return content[: chance.randrange(len(content) + 1)]


def flip(chance: random.Random, content: bytes) -> bytes:
    """Put random bytes in random places."""
    changed = bytearray(content)
    for _ in range(chance.choice([1, 5, 100]) if content else 0):
        changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


def insert(chance: random.Random, content: bytes) -> bytes:
    """Put in what no one expects."""
    odd = [b"\0", b'"', b"\r", b"\x1b[2J", b"\xff\xfe", b"\xe4\xf6", b"\n" * 3000, b";" * 500]
    odd += [b"x" * LONG, b'"' + b"y z " * LONG + b'"', b"[" * 3000, b"1e999", b"-", b"\xef\xbb\xbf"]
    at = chance.randrange(len(content) + 1)
    return content[:at] + chance.choice(odd) + content[at:]


def repeat(chance: random.Random, content: bytes) -> bytes:
    """Write a part twice."""
    start = chance.randrange(len(content) + 1)
    return content[:start] + content[start : start + chance.choice([1, 40, 9999])] + content[start:]


MAKERS: list[Callable[[random.Random], tuple[str, bytes]]] = [
    *[csv_file] * 6,
    wide_file,
    many_tags,
    *[json_file] * 3,
    *[libsvm_file] * 2,
    *[arff_file] * 2,
    *[parquet_file] * 2,
    *[model_file] * 2,
    bomb,
]
HARMS: list[Callable[[random.Random, bytes], bytes]] = [cut, flip, flip, insert, insert, repeat]
