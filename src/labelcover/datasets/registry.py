"""The sets known by name, with the figures and checksums that they must have."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class KnownSet:
    """What is known of a data set.

    Attributes
    ----------
    rows, features, labels : int
        Its size; `features` counts `identifiers` too.
    cardinality, density : float
        Mean labels of a row; share of ones among the labels.
    files : dict of str to str
        Name of each file in the folder of the set, with its SHA-256: one ARFF file, or the
        training and then the test file, and the label file last; of an embedded set, the file in
        the package.
    source : str
        Where it comes from.
    identifiers : tuple of str
        Features that only identify rows.
    openml : int, optional
        Its number on OpenML.
    embedded : bool
        Whether it comes with the package.
    """

    rows: int
    features: int
    labels: int
    cardinality: float
    density: float
    files: dict[str, str]
    source: str
    identifiers: tuple[str, ...] = ()
    openml: int | None = None
    embedded: bool = False


MULAN = "MULAN data sets, https://mulan.sourceforge.net/datasets-mlc.html"
MEKA = "MEKA data sets, https://waikato.github.io/meka/datasets/"
DEBIAN = (
    "Debian 12.15 package index, tagged by the debtags contributors, https://debtags.debian.org"
)

DEBTAGS = {"debtags.npz": "e3124f22f5042bad0f21a331b9b659059cf7f2d48fe18bd7ce7001432d9edf4b"}

KNOWN: dict[str, KnownSet] = {
    "debtags": KnownSet(2291, 378, 24, 3.6316, 0.15132, DEBTAGS, DEBIAN, embedded=True),
    "debtags-words": KnownSet(2291, 219, 14, 2.8712, 0.20509, DEBTAGS, DEBIAN, embedded=True),
    "scene": KnownSet(
        2407,
        294,
        6,
        1.0740,
        0.17899,
        {
            "scene-train.arff": "b53ba93bdf412de922e3960389bcee24744fa3e872ce610511fc1d750888b64d",
            "scene-test.arff": "ea38d20296b3ff7e220f477a3b802a9bcb2d768881fe6ee163efbc97ea527a42",
            "scene.xml": "55d8b247b949ad5c52e5a73d8c6775ec6e5469ce9682465b45b333b68ee4bcc5",
        },
        MULAN,
        openml=41471,
    ),
    "emotions": KnownSet(
        593,
        72,
        6,
        1.8685,
        0.31141,
        {
            "emotions.arff": "6f2f790047073d1293ac0872c0d55f2dc98b6177802fc96c6b66b309dfee1e4b",
            "emotions.xml": "dbce8e6ccbbb2fcbfd9e9edbb230d7ed12692c6e13f59fdbc0161fa9b6cf2dc0",
        },
        MULAN,
        openml=41465,
    ),
    "yeast": KnownSet(
        2417,
        103,
        14,
        4.2371,
        0.30265,
        {
            "yeast.arff": "55c07a3b6ff885ae338fb6987a1d57f55572b29809922c2822c4885c61230dd7",
            "yeast.xml": "c3056cc26444b5158b1588d1b73bec9c45429e10f0957ad085903423cb81f247",
        },
        MULAN,
        openml=41473,
    ),
    "slashdot": KnownSet(
        3782,
        1079,
        22,
        1.1809,
        0.05368,
        {
            "SLASHDOT-F.arff": "35c7b933211fc39c623252f2289de1460f588265a3df8be2c97f3090708476eb",
            "SLASHDOT-F.xml": "bbcc6b7fcf22feb27c9810aec6f6db513bcdc021b1dfbfa2d22a3be025085028",
        },
        MEKA,
        openml=41472,
    ),
    "ohsumed": KnownSet(
        13929,
        1002,
        23,
        1.6631,
        0.07231,
        {
            "OHSUMED-F.arff": "b72ee2d653be2ca6c9baaa7afa747025118a836c414a4b578ee2a705838340b6",
            "OHSUMED-F.xml": "104f788248361c378c952ac8b413d25ea32c4789932537c40c5fe080237baef7",
        },
        MEKA,
    ),
    "genbase": KnownSet(
        662,
        1186,
        27,
        1.2523,
        0.04638,
        {
            "genbase.arff": "cb23052a49191e36e9a59cd661e97d79bed2e3f2583030a206692b57bf1e3671",
            "genbase.xml": "198e8a1d7070e9603119e02e626cedc589db7577339b307b06f5192047b69eb9",
        },
        MULAN,
        identifiers=("protein",),
        openml=41467,
    ),
    "medical": KnownSet(
        978,
        1449,
        45,
        1.2454,
        0.02768,
        {
            "medical.arff": "ad0630a9a409ed0023c3bb56a0be7610b635c1ca185c6035e3b198b01167aac4",
            "medical.xml": "51fa9d5c09e48caff3f0a0c75db1c9aa85944f8e35451f3ad8bd56fc422286ce",
        },
        MULAN,
    ),
    "enron": KnownSet(
        1702,
        1001,
        53,
        3.3784,
        0.06374,
        {
            "enron.arff": "d0889ef0576d4e7b5ec0df3b3e4760e476ac11a6e7d7ddeee4c4a34470dedf97",
            "enron.xml": "ed40c92d7f613eed51714912cab10dddc4ce456262137d8fef230d44c7f4457b",
        },
        MULAN,
        openml=41466,
    ),
    "delicious": KnownSet(
        16105,
        500,
        983,
        19.0200,
        0.01935,
        {
            "delicious-train.arff": (
                "030186cdb542ebdd32052fcdbb1ebe30115b3a22518c1b4b198c45eb827aebe1"
            ),
            "delicious-test.arff": (
                "2dfb01723a819914b0ca83361177ed413ce3f2169851d9f228d4692915d63944"
            ),
            "delicious.xml": "4e0c0f93c7d86a39b9fca4aaefaa00e9428f2c80277732dfbf03ca48e2c14da2",
        },
        MULAN,
    ),
    "mediamill-subset": KnownSet(
        4387,
        120,
        101,
        4.3638,
        0.04321,
        {
            "mediamill-subset.arff": (
                "7cc7e9c71b31cc18259a99fca03d90379138ee8f1ba4b22847b2c47d040341e7"
            ),
            "mediamill-subset.xml": (
                "960991532485541a885868c269bf454a6ecdcea3f821ad29ae516eaa5a1bd43b"
            ),
        },
        MULAN + ": 4,387 of the 43,907 rows",
    ),
}
