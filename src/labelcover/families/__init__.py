"""All members of one ensemble, trained together on one X.

`family_of` finds the family that serves an estimator. A family for a learner that can share
work across members registers itself in its own file::

    @family_of.register(MyClassifier)
    class MyFamily(Family): ...

and is imported below, so that it is known.
"""

from labelcover.families.base import Family
from labelcover.families.c45 import C45Family
from labelcover.families.dispatch import family_of
from labelcover.families.encoding import Encoding, encode
from labelcover.families.generic import GenericFamily
from labelcover.families.least_squares import LeastSquaresFamily
from labelcover.families.smo import SMOFamily

__all__ = [
    "C45Family",
    "Encoding",
    "Family",
    "GenericFamily",
    "LeastSquaresFamily",
    "SMOFamily",
    "encode",
    "family_of",
]
