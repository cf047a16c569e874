"""What scikit-learn asks of an estimator with members: parameters, tags, metadata."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar, Self

from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import UNUSED, MetadataRouter, MethodMapping, process_routing
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from labelcover._arguments import check_choice
from labelcover.ensemble._label_tables import CONTAINERS
from labelcover.learners import AnyClassifier, BatchClassifier, LeastSquaresClassifier


@dataclass(eq=False, repr=False)
class MemberEstimator(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A multi-label estimator whose members are clones of its parameter ``estimator``.

    The parameters here are those of every estimator, and the fields of a subclass its own. It is a
    dataclass too, ``@dataclass(eq=False, repr=False, kw_only=True)``, so that its ``__init__`` only
    keeps what it is given, as scikit-learn wants it. One whose default member is not least squares
    says so in `_has_default_member` and `_member`.
    """

    estimator: Any = None
    _: KW_ONLY
    columns: Mapping[str, str] | None = None
    n_jobs: int | None = None
    random_state: Any = None
    verbose: bool = False

    # What learns as it is; clones of any other classifier do.
    _learners: ClassVar[tuple[type, ...]] = (BatchClassifier,)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters; with `deep`, those of the default member too."""
        params = super().get_params(deep)
        if deep and self._has_default_member():
            nested = self._member().get_params()
            params |= {f"estimator__{name}": value for name, value in nested.items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``estimator__…`` of the default member makes it a member of its own."""
        nested = any(name.startswith("estimator__") for name in params)
        if nested and self._has_default_member() and "estimator" not in params:
            params["estimator"] = self._member()
        return super().set_params(**params)

    def set_output(self, *, predict: str | None = None) -> Self:
        """Say what `predict`, `predict_proba` and `decision_function` return.

        Parameters
        ----------
        predict : {"default", "pandas", "polars"}, optional
            An array, or a data frame whose columns are ``label_names_in_``. None changes nothing.
        """
        if predict is not None:
            self._container = check_choice("predict", predict, CONTAINERS)
        return self

    def _check_fitted(self) -> None:
        # check_is_fitted makes the estimator's tags first, which takes a good part of a
        # millisecond.
        if not hasattr(self, "view_"):
            check_is_fitted(self, "view_")

    # Weights go to the members, whose requests count; `fit` names them for who looks there.
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"sample_weight": UNUSED}
    __metadata_request__score: ClassVar[dict[str, Any]] = {"sample_weight": UNUSED}

    def set_fit_request(self, *, sample_weight: bool | str | None) -> Self:
        """Say whether `fit` asks for weights, for metadata routing: as of the members.

        Parameters
        ----------
        sample_weight : bool, str or None
            As in scikit-learn's ``set_fit_request``.
        """
        self.estimator = clone(self._member()).set_fit_request(sample_weight=sample_weight)
        return self

    def get_metadata_routing(self) -> MetadataRouter:
        """Return that metadata given to `fit` goes to the members; other methods have their own."""
        mapping = MethodMapping().add(caller="fit", callee="fit")
        member = self._member()
        if self._has_default_member() and get_config()["enable_metadata_routing"]:
            member.set_fit_request(sample_weight=True)  # nobody else could ask for them
        router = MetadataRouter(owner=self).add_self_request(self)
        return router.add(estimator=member, method_mapping=mapping)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        member = get_tags(self._member()).input_tags
        tags.input_tags.sparse = member.sparse
        tags.input_tags.allow_nan = member.allow_nan
        tags.input_tags.categorical = member.categorical
        return tags

    def _has_default_member(self) -> bool:
        return self.estimator is None

    def _member(self) -> BaseEstimator:
        """Return what the members are clones of."""
        return LeastSquaresClassifier() if self._has_default_member() else self.estimator

    def _learner(self) -> Any:
        """Return the learner of the members, its parameters checked."""
        member = self._member()
        own = isinstance(member, self._learners)
        learner: Any = member if own else AnyClassifier(member)
        learner.check_parameters()
        return learner

    def _route(self, fit_params: dict[str, Any]) -> dict[str, Any]:
        """Return the metadata for the members."""
        fit_params = {name: value for name, value in fit_params.items() if value is not None}
        if get_config()["enable_metadata_routing"]:
            return dict(process_routing(self, "fit", **fit_params)["estimator"]["fit"])
        unknown = [name for name in fit_params if not has_fit_parameter(self._member(), name)]
        if unknown:
            raise ValueError(
                f"{unknown[0]} must not be given: the fit of {self._member()!r} does not take it."
            )
        return fit_params
