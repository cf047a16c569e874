"""`labelcover evaluate`: a model measured on a file."""

from __future__ import annotations

import json
from dataclasses import asdict

from labelcover.cli.options import AsJson, CsvOptions, Data, ModelFile
from labelcover.cli.printing import print_facts


def evaluate(
    *,
    model: ModelFile,
    data: Data,
    csv: CsvOptions,
    as_json: AsJson = False,
) -> None:
    """Measure a model on a file that also has the labels.

    Example: labelcover evaluate model.skops test.csv
    """
    from labelcover.models import load_model, measure_model

    trained = load_model(model)
    dataset = trained.read(data, with_labels=True, **asdict(csv))
    scores, label_scores = measure_model(trained, dataset)
    if as_json:
        print(json.dumps({**scores, "label_f1": label_scores}))
    else:
        print_facts({name: f"{value:.4f}" for name, value in scores.items()}, False)
