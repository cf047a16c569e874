"""The pages of a model and of an audit as a reader sees them, in a real browser."""

import html
import json
import re
from copy import copy
from dataclasses import replace

import numpy as np
import pytest

from labelcover import LabelCoverClassifier, RakelClassifier
from labelcover.audit import Suspects, explain_suspects, suspicious_labels
from labelcover.chance import LabelFrequencies, chance_of
from labelcover.datasets import Dataset, Reading, feature_words, load, row_contents
from labelcover.experiments import write_audit_page, write_model_card, write_model_page
from labelcover.judgement import Judgement, judged_left_out, judged_on
from labelcover.metrics import MEASURES, label_f1
from labelcover.models import fit_model

LONG = "a_name_of_85_characters_that_an_export_of_a_database_gives_to_a_column_of_tags_{:05d}"


def rows_of_debtags(rows, names=None, n_labels=8):
    data = load("debtags")
    names = data.label_names[:n_labels] if names is None else names
    return Dataset(
        "some rows", data.X[rows], data.Y[rows, :n_labels], data.feature_names, names,
        data.categorical,
    )  # fmt: skip


@pytest.fixture(scope="module")
def model():
    return fit_model(LabelCoverClassifier(random_state=0), rows_of_debtags(slice(0, 300)))


def named_otherwise(model, names, trained_on):
    named = copy(model)
    named.label_names_in_ = np.array(names, dtype=object)
    named.reading_ = replace(model.reading_, name=trained_on, label_names=names)
    return named


@pytest.fixture(scope="module")
def test_rows():
    return rows_of_debtags(slice(300, 500))


@pytest.fixture(scope="module")
def pages(tmp_path_factory, model, test_rows):
    """Pages of short and of long names: a model on test rows, on rows left out, an audit."""
    folder = tmp_path_factory.mktemp("pages")
    names = [LONG.format(j) for j in range(8)]
    long = named_otherwise(model, names, LONG.format(99))
    write_model_page(folder / "test.html", model, test_rows, command="labelcover report a b")
    write_model_page(folder / "left-out.html", model)
    test = rows_of_debtags(slice(300, 500), names)
    write_model_page(folder / "long.html", long, test, command="labelcover report " + LONG)
    suspects = suspicious_labels(test.X, test.Y, label_names=names)
    keys = [f"row-{i}-of-a-table-with-long-keys" for i in range(len(test.Y))]
    texts = {"subject": [LONG * 8] * len(keys)}
    table = replace(test, name=LONG.format(7), ids=keys, texts=texts)
    about = {"above": 0.5, "command": "labelcover"}
    about["reasons"] = explain_suspects(suspects, suspects.ranked(above=0.5))
    write_audit_page(folder / "audit.html", suspects, table, **about)
    return folder


@pytest.fixture
def open_page(browser, pages):
    contexts, errors, requests = [], [], set()

    def open_at(name, width, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: requests.add(request.url))
        page.goto((pages / name).as_uri())
        return page

    yield open_at
    for context in contexts:
        context.close()
    assert errors == []
    assert all(request.startswith(pages.as_uri()) for request in requests)


@pytest.mark.parametrize("name", ["test.html", "left-out.html", "long.html", "audit.html"])
def test_no_text_overflows(open_page, overflowing, name):
    page = open_page(name, 390, "dark")
    assert page.evaluate(overflowing) == []
    page.set_viewport_size({"width": 1280, "height": 900})
    page.emulate_media(color_scheme="light")
    assert page.evaluate(overflowing) == []


def test_the_label_column_leaves_room_for_the_scores(open_page):
    page = open_page("long.html", 390)
    widths = page.evaluate(
        """() => [...document.querySelectorAll("tbody th:first-child")]
          .map((cell) => cell.getBoundingClientRect().width)"""
    )
    assert widths
    assert max(widths) < 390 / 2


def test_reasons_of_mistakes_leave_no_empty_space_on_a_phone(open_page):
    heights = open_page("test.html", 390).evaluate(
        """() => [...document.querySelectorAll(".reason")]
          .map((cell) => cell.parentElement.getBoundingClientRect().height)"""
    )
    assert heights
    assert max(heights) < 170


def test_a_long_table_is_no_higher_than_the_screen_and_keeps_its_headings(
    browser, model, test_rows, tmp_path
):
    path = tmp_path / "page.html"
    write_model_page(path, model, test_rows)
    page = browser.new_page(viewport={"width": 390, "height": 900})
    page.goto(path.as_uri())
    box, head = page.evaluate(
        """() => {
          const table = document.querySelector("table.labels");
          const body = table.tBodies[0];
          while (body.rows.length < 200) body.append(body.rows[0].cloneNode(true));
          const box = table.closest(".scroll");
          box.scrollTop = 3000;
          return [box, table.tHead.rows[0].cells[1]].map((part) => part.getBoundingClientRect());
        }"""
    )
    page.close()
    assert box["height"] < 900
    assert head["y"] == pytest.approx(box["y"], abs=2)


def shown(page):
    ids = ("what-predicted", "what-precision", "what-recall", "what-f1")
    return [page.locator(f"#{name}").inner_text() for name in ids]


def test_the_slider_shows_what_another_threshold_would_do(open_page, model, test_rows):
    page = open_page("test.html", 1280)
    P, Y = model.predict_proba(test_rows.X), test_rows.Y
    for choice, labels in ((0, slice(None)), (3, [2])):
        page.select_option("#choice", str(choice))
        for cut in (0, 30, 77):
            page.locator("#cut").fill(str(cut))
            predicted = P[:, labels] >= cut / 100
            hits, given = (predicted & (Y[:, labels] == 1)).sum(), Y[:, labels].sum()
            expected = [
                f"{predicted.sum() / len(Y):.2f}",
                f"{hits / predicted.sum():.3f}",
                f"{hits / given:.3f}",
                f"{2 * hits / (predicted.sum() + given):.3f}",
            ]
            assert shown(page) == expected
        assert page.locator("#cut-value").inner_text() == "0.77"


def test_the_page_names_the_command_that_does_what_the_slider_shows(open_page):
    page = open_page("test.html", 1280)
    page.locator("#cut").fill("29")
    code = page.locator("#what-if code").inner_text()
    assert code == "labelcover predict model.skops new.csv --threshold 0.29 -o predictions.csv"


def test_the_slider_counts_a_confidence_at_its_threshold(model, test_rows):
    judged = judged_on(model, test_rows)
    P = np.resize(np.arange(100) / 100, judged.P.shape)
    true, false = replace(judged, P=P).counts(range(8))
    for cut in (29, 57, 58, 99):
        assert sum(true[cut:]) + sum(false[cut:]) == (float(f"0.{cut}") <= P).sum()


def test_every_measure_stands_beside_chance_with_a_line_of_explanation(open_page, model, test_rows):
    page = open_page("test.html", 390)
    lines = page.locator("table.measures tbody tr").all_inner_texts()
    scores = judged_on(model, test_rows).scores.values()
    assert len(lines) == len(scores)
    for line, score in zip(lines, scores, strict=True):
        for piece in (score.title, score.explanation, score.direction):
            assert piece in line
        assert f"{score.value:.3f}" in line
        assert f"{score.chance:.3f}" in line
    assert "better than chance, which has" in page.locator("header").inner_text()


def test_labels_come_by_support_with_bars_as_long_as_their_f1(open_page):
    page = open_page("test.html", 1280)
    rows = page.evaluate(
        """() => [...document.querySelectorAll("table.labels tbody tr")].map((row) => {
          const width = (e) => e.getBoundingClientRect().width;
          const bar = row.querySelector(".bar");
          return [Number(row.cells[1].dataset.value), Number(row.cells[5].dataset.value),
            width(bar.querySelector("span")) / width(bar)];
        })"""
    )
    support = [row[0] for row in rows]
    assert support == sorted(support, reverse=True)
    assert [row[2] for row in rows] == pytest.approx([row[1] for row in rows], abs=0.02)


def test_the_reliability_curve_follows_the_choice(open_page, model, test_rows):
    page = open_page("test.html", 1280)
    judged = judged_on(model, test_rows)
    for choice, labels in ((0, range(8)), (5, [4])):
        page.select_option("#choice", str(choice))
        points = page.locator("#curve").get_attribute("points").split()
        expected = [(40 + 250 * a, 270 - 250 * b) for a, b, _ in judged.reliability(labels)]
        drawn = [tuple(map(float, point.split(","))) for point in points]
        assert np.array(drawn) == pytest.approx(np.array(expected), abs=0.06)
        assert page.locator("#curve-points circle").count() == len(expected)


def test_the_page_tells_everything_that_was_asked_for(open_page):
    text = open_page("test.html", 1280).locator("body").inner_text()
    for piece in (
        "On 200 rows of some rows",
        "Each label", "average precision", "error of confidence", "What if the threshold",
        "Can confidences be trusted?", "Which labels go together?", "The strongest pairs",
        "What speaks for a label", "The surest mistakes", "given, not predicted",
        " smaller ones (", "labelcover report a b", "scikit-learn",
    ):  # fmt: skip
        assert piece in text, piece
    left_out = open_page("left-out.html", 1280).locator("body").inner_text()
    assert "On 300 training rows, each predicted by a model that has not seen it" in left_out


def test_the_table_of_labels_can_be_sorted(open_page):
    page = open_page("test.html", 1280)
    page.get_by_role("button", name="F1").first.click()
    values = page.evaluate(
        """() => [...document.querySelector("table.sortable").tBodies[0].rows]
          .map((row) => Number(row.cells[5].dataset.value))"""
    )
    assert values == sorted(values, reverse=True)


def test_lines_are_the_measures_of_each_label(model, test_rows):
    judged = judged_on(model, test_rows)
    lines = judged.label_lines(range(8))
    assert [line.f1 for line in lines] == pytest.approx(
        label_f1(judged.Y, judged.predicted).tolist(), nan_ok=True
    )
    assert judged.scores["micro_f1"].value == MEASURES["micro_f1"].function(
        test_rows.Y, model.predict(test_rows.X)
    )
    assert all(line.threshold == model.threshold_ for line in lines)


def test_rows_left_out_are_those_that_the_decision_was_fitted_on(model):
    judged = judged_left_out(model)
    kept = model.left_out_predictions_
    assert sorted(kept.rows.tolist()) == judged.rows.tolist()
    assert judged.Y.tolist() == rows_of_debtags(slice(0, 300)).Y[judged.rows].tolist()


def test_the_surest_mistakes_come_first(model, test_rows):
    judged = judged_on(model, test_rows)
    found = judged.mistakes(10)
    surest = [cells[0].sureness for cells in found]
    assert surest == sorted(surest, reverse=True)
    wrong = judged.predicted != judged.Y
    sureness = np.where(judged.predicted == 1, judged.P, 1 - judged.P)
    assert surest[0] == sureness[wrong].max()
    assert all(wrong[cell.row, cell.label] for cells in found for cell in cells)


def test_a_model_without_left_out_rows_says_so(tmp_path):
    data = rows_of_debtags(slice(0, 80))
    trained = fit_model(RakelClassifier(size=12, random_state=0), data)
    with pytest.raises(ValueError, match=r"keeps no predictions for rows left out \(RakelClass"):
        write_model_page(tmp_path / "page.html", trained)
    assert not (tmp_path / "page.html").exists()
    # With test data it has a page, without what the model cannot tell.
    write_model_page(tmp_path / "page.html", trained, rows_of_debtags(slice(80, 120)))
    assert "are no sums over features" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_names_cannot_end_the_script(tmp_path, model, test_rows):
    names = ["</script><b>bold", *model.label_names_in_[1:]]
    named = named_otherwise(model, names, "<i>")
    write_model_page(tmp_path / "page.html", named, test_rows)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    data = re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1]
    assert "</script><b>bold" in [choice["name"] for choice in json.loads(data)["choices"]]
    assert "<b>" not in text
    assert "<i>" not in text


def test_any_letters_may_be_in_a_name(tmp_path, model, test_rows):
    """Dollar signs are no mathematics, and the browser may have letters that matplotlib lacks."""
    names = ["a$_$", "$\\frac{$", "💶", "日本語", *model.label_names_in_[4:]]
    named = named_otherwise(model, names, "names")
    write_model_page(tmp_path / "page.html", named, test_rows)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    pictures = "".join(re.findall("<svg.*?</svg>", text, re.DOTALL))
    assert all(html.escape(name) in pictures for name in names[:4])


def test_the_size_of_the_page_is_bounded(tmp_path):
    random = np.random.default_rng(0)
    n, m = 900, 220
    Y = (random.random((n, m)) < 0.02).astype(np.uint8)
    P = random.random((n, m))
    names = [LONG.format(j) for j in range(m)]
    predicted = (P > 0.9).astype(np.uint8)
    chance = chance_of(
        LabelFrequencies.of(RakelClassifier(threshold=0.9), Y), predicted, threshold_is_given=True
    )
    judged = Judgement(np.arange(n), Y, P, predicted, names, 0.9, chance)
    trained = LabelCoverClassifier()
    trained.reading_ = Reading("", ["a"], names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "labelcover.experiments._report.model_page.judged_left_out", lambda *_, **__: judged
        )
        patch.setattr("labelcover.experiments._report.model_page.MOST_ROWS", 300)
        write_model_page(tmp_path / "page.html", trained)
    assert (tmp_path / "page.html").stat().st_size < 1_000_000
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "On 300 training rows, each predicted by a model that has not seen it (a random " in text
    assert "Showing the 200 most frequent of 220 labels" in text
    assert "Showing the 100 most frequent of 220 labels" in text


def test_reasons_of_a_sample_are_those_of_its_rows(model, test_rows, tmp_path, monkeypatch):
    monkeypatch.setattr("labelcover.experiments._report.model_page.MOST_ROWS", 40)
    named = replace(test_rows, ids=[f"package {i}." for i in range(len(test_rows.Y))])
    write_model_page(tmp_path / "page.html", model, named)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    rows = re.findall(
        r'row">package (\d+)\.</th><td class="name">(.*?)</td>.*?"name reason">([^<]*)</td></tr>',
        text,
    )
    first = {row: (label, why) for row, label, why in reversed(rows)}
    assert len(first) >= 3
    for row, (label, why) in first.items():
        X = test_rows.X[[int(row)]]
        own = model.explain(X, label, n_reasons=3).in_words(3)
        assert html.unescape(why) == own[0, label]


def test_the_audit_page_tells_what_was_asked_for(tmp_path):
    some = Suspects(
        np.full((3, 2), 0.3), np.zeros((3, 2)), np.eye(3, 2, dtype=np.uint8), ["a", "b"]
    )
    write_audit_page(tmp_path / "page.html", some, above=0.25)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert (
        "The list has the 6 with a suspicion above 0.25, highest first: 2 wrong, 4 missing." in text
    )
    assert "No label can be judged" in text
    write_audit_page(tmp_path / "page.html", some)
    assert "None." in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_the_audit_page_shows_the_row_and_reasons_of_each_suspect(tmp_path):
    data = rows_of_debtags(slice(0, 300))
    Y = data.Y.copy()
    Y[np.random.default_rng(0).random(Y.shape) < 0.02] ^= 1
    suspects = suspicious_labels(data.X, Y, label_names=data.label_names)
    found = suspects.ranked()
    assert found
    reasons = explain_suspects(suspects, found, data.X, feature_names=feature_words(data))
    write_audit_page(tmp_path / "page.html", suspects, data, reasons=reasons)
    text = html.unescape((tmp_path / "page.html").read_text(encoding="utf-8"))
    entries = re.findall("<li><details.*?</li>", text, re.S)
    assert len(entries) == len(found)
    contents = row_contents(data, [suspect.row for suspect in found])
    for suspect, entry in zip(found, entries, strict=True):
        assert suspect.label in entry
        assert f"looks {suspect.kind}" in entry
        assert contents[suspect.row][0][1] in entry
        why = reasons[suspect[:2]]
        assert all(what in entry for what, _ in why.against + why.speaking_for)
    assert f"About {len(found)} (" in text
    # Beyond the first ten a suspect is a line to open: 200 would be 134,000 px high on a phone.
    assert [entry.startswith("<li><details open>") for entry in entries] == [
        place < 10 for place in range(len(entries))
    ]


def test_mistakes_without_reasons_have_no_column_for_them(pages):
    for name, has in (("left-out.html", False), ("test.html", True)):
        text = (pages / name).read_text(encoding="utf-8")
        assert ('<th scope="col">why</th>' in text) == has


def test_the_audit_page_has_one_list_at_every_width(open_page):
    page = open_page("audit.html", 400, "dark")
    text = page.locator("body").inner_text()
    for piece in ("looks wrong", "looks missing", "suspicion", "other labels", "subject"):
        assert piece in text, piece
    assert page.locator("ol.suspects").count() == 1
    for width in (400, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_card_says_what_the_model_is_and_how_good(model, tmp_path, command):
    write_model_card(tmp_path / "card.md", model, model_file="a b.skops")
    text = (tmp_path / "card.md").read_text(encoding="utf-8")
    judged = judged_left_out(model)
    for said in (
        "# What it is",
        "LabelCoverClassifier(random_state=0)",
        "some rows: 378 features.",
        f"| micro_f1 | {judged.scores['micro_f1'].value:.3f} |",
        str(judged.verdict),
        "It knows 8 labels, and no other is ever predicted.",
        "labelcover predict 'a b.skops' new.csv",
    ):
        assert said in text
    write_model_card(tmp_path / "card.md", RakelClassifier(k=2).fit(np.eye(9), np.eye(9)[:, :3]))
    assert "Not measured: labelcover evaluate does" in (tmp_path / "card.md").read_text()


def test_train_writes_a_card(tmp_path, command):
    lines = [f"printer {i} is broken,hardware" for i in range(20)]
    lines += [f"forgot password {i} again,account;urgent" for i in range(20)]
    (tmp_path / "t.csv").write_text("\n".join(["subject,tags", *lines, "once,rare"]))
    words = ["train", tmp_path / "t.csv", "--tags", "tags", "-o", tmp_path / "m.skops"]
    code, said, errors = command(*words, "--card", tmp_path / "card.md")
    assert code == 0, errors
    assert "card.md" in said
    text = (tmp_path / "card.md").read_text(encoding="utf-8")
    assert "subject  text" in text
    code, _, errors = command(*words, "--card", tmp_path / "card.html")
    assert code == 2
    assert "--card must end in .md" in errors


def test_the_page_counts_known_labels_only(model, test_rows, tmp_path):
    known = np.random.default_rng(0).random(test_rows.Y.shape) < 0.7
    some = replace(test_rows, Y=np.where(known, test_rows.Y, np.nan))
    judged = write_model_page(tmp_path / "page.html", model, some)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    line = judged.label_lines(judged.by_support[:1])[0]
    assert line.known == known[:, judged.by_support[0]].sum()
    assert f">{line.support} of {line.known}</td>" in text
    assert f"{1 - known.mean():.0%} of the labels of these rows are not known" in text
    write_model_page(tmp_path / "page.html", model, test_rows)
    assert " of 200</td>" not in (tmp_path / "page.html").read_text(encoding="utf-8")
