"""The paper's tables beside ours: nothing is misplaced, nothing that is missing stops the rest."""

import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from labelcover.datasets import load
from labelcover.experiments._paper.claims import (
    choice_sheet,
    choices_of,
    paired_sheet,
    readings_of,
    readings_sheets,
)
from labelcover.experiments._paper.paper_fits import (
    DEFAULT,
    WAYS,
    Setting,
    columns_of,
    folds_of,
    table_setting,
    table_settings,
)
from labelcover.experiments._paper.paper_tables import (
    Sheet,
    compared,
    result_sheets,
    score_table,
)
from labelcover.experiments._paper.printed import METHODS, printed_table
from labelcover.experiments._paper.reproduce import ORDER, _settings, reproduce
from labelcover.experiments.results import COLUMNS, read_results
from labelcover.learners import C45Classifier

TABLES = ("table7", "table8", "table9", "table10")


def results(scores):
    """Lines of a results file from ``(dataset, method, fold, micro-F1, Hamming loss)``."""
    lines = []
    for dataset, method, fold, f1, loss in scores:
        line = dict.fromkeys(COLUMNS, 0.0)
        line |= {"dataset": dataset, "method": method, "fold": fold, "error": ""}
        line |= {"folds": folds_of(dataset, 10), "micro_f1": f1, "hamming_loss": loss}
        lines.append(line)
    return pd.DataFrame(lines)


@pytest.mark.parametrize("table", TABLES)
def test_the_packages_tables_are_the_papers(paper_tables, table):
    path = next(paper_tables.glob(f"{table}*.csv"))
    theirs = pd.read_csv(path)
    ours = pd.DataFrame([row.cells for row in printed_table(table)])
    assert theirs.columns.tolist() == ours.columns.tolist()
    assert theirs.drop(columns="dataset").equals(
        ours.drop(columns="dataset").apply(pd.to_numeric).astype(theirs.dtypes[1:])
    )


@pytest.mark.parametrize("table", TABLES)
def test_every_figure_has_a_run_behind_it(table):
    for row in printed_table(table):
        columns = [setting for _, setting in columns_of(table, row).values()]
        assert set(columns) <= set(table_settings(table, row.dataset))


def test_every_data_set_has_its_place():
    names = {row.dataset for table in ("table6", *TABLES) for row in printed_table(table)}
    assert names == set(ORDER)


def test_the_k_of_table_9_follow_from_its_sizes():
    known = {row.dataset: row.k for row in printed_table("table9")}
    assert known["yeast"] == 7
    assert known["genbase"] == 4
    assert known["slashdot"] == 3


def test_the_other_ensembles_of_table_9_have_the_size_of_dd_balancor(shared_data):
    data = load("yeast")
    chains = Setting("ECC", "c45", 3, alone=True).make(data)
    assert chains.n_chains == 3, "35 labelsets; 3 chains of 14 labels are 42 models"
    assert isinstance(chains.estimator, C45Classifier)
    pruned = Setting("EPS", "c45", 3, alone=True).make(data)
    assert pruned.n_members == 35


def test_names_tell_settings_apart():
    names = [s.name for d in ORDER for t in TABLES for s in table_settings(t, d)]
    assert "DD-BALANCOR c45 k=4 r=3 size=paper" in names
    assert "DD-BALANCOR c45 k=4 r=3" in names
    of_table_8 = {s.name for s in table_settings("table8", "yeast")}
    of_table_10 = {s.name for s in table_settings("table10", "yeast")}
    assert len(of_table_8 & of_table_10) == 8, "r=2 is run once for both"


def test_ours_stand_beside_the_papers_with_difference_and_spread():
    name = table_setting("INLAC", "smo", 3).name
    frame = compared("table7", results([("emotions", name, f, 0.7 + f / 100, 0.2) for f in (0, 2)]))
    line = frame[(frame["dataset"] == "emotions") & (frame["column"] == "INLAC")].iloc[0]
    assert (line["k"], line["paper"], line["ours"]) == (3, 0.6852, pytest.approx(0.71))
    assert line["difference"] == pytest.approx(0.0248)
    assert line["spread"] == pytest.approx(0.01414, abs=1e-5)
    assert frame["ours"].notna().sum() == 2
    sheet = result_sheets("table7", frame)[0]
    assert [row[3] for row in sheet.rows] == ["paper", "ours", "difference"]
    at = sheet.heads.index("INLAC")
    assert [row[at] for row in sheet.rows] == ["0.6852", "0.7100 ± 0.0141", "+0.0248 (+1.8)"]


def test_readings_stand_side_by_side_and_the_nearest_is_named():
    def score(setting, fold):
        if setting.method == "RAKEL":
            return 0.7
        far = WAYS.index((setting.reading, setting.tuned_for))
        return table7.score("micro_f1", setting.method) + 0.1 * far + 0.02 * fold - 0.01

    table7 = next(row for row in printed_table("table7") if (row.dataset, row.k) == ("emotions", 3))
    lines = [
        ("emotions", setting.name, fold, score(setting, fold), 0.2)
        for setting in table_settings("table7", "emotions")
        for fold in range(2)
        if setting.k == 3
    ]
    frame = readings_of("table7", results(lines))
    figures, nearest = readings_sheets("table7", frame)
    assert len(figures.rows) == 5
    line = dict(zip(figures.heads, figures.rows[0], strict=True))
    assert line["paper"] == "0.6850/0.1870"
    assert line["mean, tuned for micro-F1"] == "0.6850/0.2000"
    assert line["winner, tuned for Hamming loss"] == "1.1850/0.2000"
    f1 = {row[0]: row[1:4] for row in nearest.rows}
    assert f1["mean, tuned for micro-F1"] == ["5 of 5", "0.0000", "1 of 1"]
    assert f1["votes, tuned for micro-F1"] == ["0 of 5", "0.2000", "0 of 1"]
    # A row that lacks one reading is not counted.
    assert readings_of("table7", results(lines[:-1])).empty
    assert readings_sheets("table7", readings_of("table7", results(lines[:-1])))[0].notes


def test_methods_below_rakel_are_named():
    def lines(f1):
        names = [table_setting(method, "smo", 3).name for method in METHODS]
        return [("emotions", n, f, 0.7 + (0 if not j else f1[f]), 0.2)
                for j, n in enumerate(names) for f in range(10)]  # fmt: skip

    none = paired_sheet("table7", results(lines([0.0] * 9 + [-0.1])))
    assert none.rows[0][:3] == ["emotions", "0.7000", "-0.0100 ± 0.0100"]
    # Student's t with nine degrees of freedom is below -1 with a probability of 17 %.
    chance = "Did no method differ from it, 0.9 of 5 comparisons would be."
    assert none.notes == [f"Below RAKEL by more than one standard error: none. {chance}"]
    below = paired_sheet("table7", results(lines([0.0] * 8 + [-0.1, -0.1])))
    assert "standard error: RAKEL++ on emotions, DD-BALANCOR on emotions" in below.notes[0]
    assert paired_sheet("table7", results(lines([0.0] * 10)[:-1])).rows == []


def test_a_sheet_is_printed_whole_however_narrow_the_terminal():
    sheet = Sheet(
        "Sizes", ["m", "long heading " * 9], [["6", "7"], ["14", "35 " * 30]], ["A note."]
    )
    stream = io.StringIO()
    sheet.print(Console(file=stream, width=40))
    lines = stream.getvalue().splitlines()
    assert lines[0] == "Sizes"
    assert lines[1] == "m   " + ("long heading " * 9).rstrip()
    assert lines[3].startswith("14  35 35")
    assert lines[4] == "A note."


def test_it_is_said_where_the_default_is_not_the_best():
    smo = Setting("RAKEL", "smo", 3).name
    frame = compared(
        "table7",
        results(
            [
                ("emotions", smo, 0, 0.6, 0.3), ("emotions", smo, 1, 0.7, 0.3),
                ("emotions", DEFAULT, 0, 0.6, 0.1), ("emotions", DEFAULT, 1, 0.6, 0.1),
            ]
        ),
    )  # fmt: skip
    f1, loss = result_sheets("table7", frame)
    assert f1.rows[2][-1] == "not the best"
    assert loss.rows[2][-1] == "best of the row"
    assert any("not on emotions k=3" in note for note in f1.notes)


def test_tests_are_made_of_complete_rows_only():
    lines = [
        ("emotions", table_setting(m, "smo", k).name, 0, 0.5 + j / 100, 0.2)
        for k in (3, 4)
        for j, m in enumerate(METHODS)
        if (k, m) != (4, "BALCO")
    ]
    frame = compared("table7", results(lines))
    assert score_table(frame, "micro_f1", METHODS).tolist() == [
        pytest.approx([0.5, 0.51, 0.52, 0.53, 0.54, 0.55])
    ]
    of_paper = score_table(frame, "micro_f1", METHODS, "paper")
    assert of_paper.tolist() == [[0.679, 0.685, 0.6852, 0.6851, 0.6852, 0.685]]


def test_the_choice_of_k_is_right_where_the_loss_is_lower(shared_data):
    data = load("emotions")
    names = [s.name for s in table_settings("section5.7", "emotions")]
    low, high = names[:2]
    lines = [("emotions", low, f, 0.5, 0.2) for f in range(4)]
    lines += [("emotions", high, f, 0.5, loss) for f, loss in enumerate([0.1, 0.3, 0.2, 0.3])]
    choices = choices_of([data], results(lines))
    assert choices["chose_high"].all(), "a labelset of four labels holds four triples"
    sheet = choice_sheet(choices)
    assert sheet.rows == [["emotions", "SMO", "3", "4", "4", "1", "1", "2 of 4"]]
    assert "right in 2 of 4 choices (50.0%); the paper has 64 of 80" in sheet.notes[0]
    assert choice_sheet(choices_of([], results(lines))).notes == ["Nothing has been run yet."]


def test_table_6_names_the_wrong_densities(shared_data, tmp_path):
    outcome = reproduce("table6", tmp_path, datasets=["emotions", "slashdot"])
    (sheet,) = outcome.sheets
    assert len(sheet.rows) == 4
    assert len(sheet.notes) == 1
    assert "slashdot: the paper prints a density of 0.041" in sheet.notes[0]


def test_a_table_is_run_resumed_and_written_and_a_missing_set_is_named(
    shared_data, tmp_path, monkeypatch
):
    """Of two data sets one is not on this machine; the other is run all the same."""
    only = tmp_path / "data"
    only.mkdir()
    (only / "emotions").symlink_to(shared_data / "emotions")
    monkeypatch.setenv("LABELCOVER_DATA", str(only))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    how = {"datasets": ["emotions", "scene"], "k": [4], "quick": True, "verbose": False}
    outcome = reproduce("table8", tmp_path / "out", **how)
    (missing,) = outcome.missing
    assert "'scene' is not on this machine: put scene-train.arff" in missing
    frame = read_results(tmp_path / "out" / "results.csv")
    # RAKEL, five methods with three readings and two measures of the threshold, and the default.
    assert frame["method"].nunique() == 1 + 5 * 3 * 2 + 1
    assert len(frame) == 3 * 32
    assert (frame["error"] == "").all()
    assert frame[frame["method"] != DEFAULT]["fit_seconds"].isna().all()
    assert sorted(path.name for path in outcome.files) == ["table8.csv", "table8.html", "table8.md"]
    text = (tmp_path / "out" / "table8.md").read_text(encoding="utf-8")
    assert "| emotions | 4 | 3 | paper | 0.6102 |" in text
    assert "Tests as in Section 5.4, Table 7 (SMO) and Table 8 (J48)" in text
    assert "micro-F1, the paper's 64 rows: mean ranks DD-BALANCOR 1.31" in text
    table = pd.read_csv(tmp_path / "out" / "table8.csv")
    ours = frame[frame["method"] == "BALANCOR c45 k=4"]["micro_f1"].mean()
    cell = table[(table["column"] == "BALANCOR") & (table["measure"] == "micro_f1")]
    cell = cell[(cell["dataset"] == "emotions") & (cell["k"] == 4)]
    np.testing.assert_allclose(cell["ours"], ours, rtol=1e-5)
    before = (tmp_path / "out" / "results.csv").read_bytes()
    reproduce("table8", tmp_path / "out", **how)
    assert (tmp_path / "out" / "results.csv").read_bytes() == before


def test_quick_takes_the_two_lowest_k_of_tables_7_and_8_only():
    def found(part, k=None, quick=True):
        return sorted({setting.k for setting in _settings(part, "yeast", k, quick)})

    assert found("table7") == found("table8") == [3, 4]
    assert found("table7", quick=False) == [3, 4, 5, 6, 7]
    assert found("table7", k=[5]) == [5]
    assert found("section5.7") == [3, 7]


def test_unknown_parts_and_data_sets_are_refused(tmp_path):
    with pytest.raises(ValueError, match="part must be one of 'table6', 'table7'"):
        reproduce("table5", tmp_path)
    with pytest.raises(ValueError, match="datasets must be one of 'emotions'"):
        reproduce("table10", tmp_path / "new", datasets=["genbase"])
    assert not (tmp_path / "new").exists()


@pytest.mark.slow
@pytest.mark.parametrize("table", ["table7", "table8"])
def test_a_quick_table_is_complete(shared_data, tmp_path, table):
    """Emotions, scene and yeast with the k of emotions, three folds."""
    outcome = reproduce(table, tmp_path, quick=True, n_jobs=2, verbose=False)
    frame = pd.read_csv(tmp_path / f"{table}.csv")
    quick = frame[frame["dataset"].isin(["emotions", "scene", "yeast"]) & (frame["k"] <= 4)]
    assert (quick["folds"] == 3).all()
    assert quick["ours"].notna().all()
    rakel = quick[(quick["column"] == "RAKEL") & (quick["measure"] == "micro_f1")]
    assert len(rakel) == 6
    assert (rakel["difference"].abs() < 0.06).all()
    assert outcome.missing == []
