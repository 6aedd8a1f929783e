"""Documents: parsed and checked once, kept, and refused before anything runs where they ask for too much."""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any, Final, cast

from graphql import (
    DocumentNode,
    GraphQLError,
    GraphQLSchema,
    OperationDefinitionNode,
    OverlappingFieldsCanBeMergedRule,
    ValidationContext,
    parse,
    specified_rules,
    validate,
)
from strawberry.extensions import SchemaExtension

from stello_graph.errors import LimitExceeded
from stello_graph.graphql.context import Context
from stello_graph.graphql.cost import Cost, cost_of, numbers_in, operation_of, shape_of
from stello_graph.settings import Settings

__all__ = ["Documents"]

# Of all texts that are kept; a parsed one takes up to some hundred times as much memory.
_KEPT_CHARACTERS: Final = 256 * 1024
_KEPT_COSTS: Final = 16
# As many characters take the memory that each parsed one takes beside those of its text.
_OVERHEAD: Final = 32
# What graphql-core says where too many fields would have to be compared, or nesting is too deep.
_ABORTED: Final = "Validation aborted."
_WHICH: Final = "the document has several operations: operationName tells which one is to run"


class _BoundedMerging(OverlappingFieldsCanBeMergedRule):
    """A tenth of graphql-core's budget, which lasts for four seconds."""

    def __init__(self, context: ValidationContext) -> None:
        super().__init__(context)
        self.rule_context.remaining_complexity_budget //= 10


_RULES: Final = tuple(
    _BoundedMerging if rule is OverlappingFieldsCanBeMergedRule else rule for rule in specified_rules
)


class _Prepared:
    """A parsed document, and what is known of it."""

    def __init__(self, text: str, max_tokens: int) -> None:
        self.size = len(text) + _OVERHEAD
        self.document: DocumentNode = parse(text, max_tokens=max_tokens)
        self._errors: list[GraphQLError] | None = None
        self._shapes: dict[str | None, Any] = {}
        self._costs: dict[Any, Cost] = {}

    @cached_property
    def has_several(self) -> bool:
        """Whether a name has to tell which operation runs."""
        return sum(isinstance(node, OperationDefinitionNode) for node in self.document.definitions) > 1

    def refusals(
        self, schema: GraphQLSchema, name: str | None, variables: Mapping[str, Any] | None, limits: Settings
    ) -> list[GraphQLError]:
        """Why the operation may not run: first what is cheap to find out, which bounds the rest."""
        try:
            operation = operation_of(self.document, name)
            if operation is not None:
                self._check_shape(operation, name, limits)
            if self._errors is None:
                self._errors = _validated(schema, self.document)
            if operation is not None and not self._errors:
                self._check_cost(schema, operation, name, variables, limits)
            return self._errors
        except RecursionError:
            return [_refused("the document is nested too deep")]
        except LimitExceeded as error:
            return [_refused(error.message)]

    def _check_shape(self, operation: OperationDefinitionNode, name: str | None, limits: Settings) -> None:
        if name not in self._shapes:
            self._shapes[name] = shape_of(self.document, operation)
        depth, aliases = self._shapes[name]
        if depth > limits.max_query_depth:
            raise LimitExceeded(
                f"the operation is {depth} levels deep; at most {limits.max_query_depth} are answered"
            )
        if aliases > limits.max_query_aliases:
            raise LimitExceeded(
                f"the operation has {aliases} aliases; at most {limits.max_query_aliases} are answered"
            )

    def _check_cost(
        self,
        schema: GraphQLSchema,
        operation: OperationDefinitionNode,
        name: str | None,
        variables: Mapping[str, Any] | None,
        limits: Settings,
    ) -> None:
        numbers = numbers_in(operation, variables)
        key = name, tuple(numbers.items())
        if key not in self._costs:
            if len(self._costs) >= _KEPT_COSTS:
                self._costs.clear()
            self._costs[key] = cost_of(schema, self.document, operation, numbers)
        nodes, page = self._costs[key]
        if page > limits.max_page:
            raise LimitExceeded(f"first is {limits.max_page} at most, not {page}")
        if nodes > limits.max_query_cost:
            raise LimitExceeded(
                f"the operation may answer {nodes} nodes; at most {limits.max_query_cost} are answered: "
                "use a smaller first, or fewer lists inside lists"
            )


class _Kept:
    """The documents used last."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[GraphQLSchema, str, int], _Prepared] = OrderedDict()
        self._characters = 0

    def prepared(self, schema: GraphQLSchema, text: str, max_tokens: int) -> _Prepared:
        """A document of a schema, parsed now where it is not known. Raises GraphQLError."""
        key = schema, text, max_tokens
        if (known := self._known.get(key)) is not None:
            self._known.move_to_end(key)
            return known
        made = _Prepared(text, max_tokens)
        if made.size <= _KEPT_CHARACTERS // 8:
            self._known[key] = made
            self._characters += made.size
        while self._characters > _KEPT_CHARACTERS:
            self._characters -= self._known.popitem(last=False)[1].size
        return made


_KEPT: Final = _Kept()


class Documents(SchemaExtension):
    """Parses and validates in Strawberry's place, with the limits of the settings."""

    _prepared: _Prepared | None = None

    def on_parse(self) -> Iterator[None]:
        """A document that is none is parsed by Strawberry again, which tells what is wrong."""
        context = self.execution_context
        limit = self._limits.max_query_tokens
        context.parse_options["max_tokens"] = limit
        with suppress(GraphQLError):
            self._prepared = _KEPT.prepared(context.schema._schema, cast(str, context.query), limit)
            context.graphql_document = self._prepared.document
        yield

    def on_validate(self) -> Iterator[None]:
        """Before anything runs."""
        context = self.execution_context
        if self._prepared is not None:
            if context._provided_operation_name is None and self._prepared.has_several:
                context.pre_execution_errors = [GraphQLError(_WHICH)]
            else:
                context.pre_execution_errors = self._prepared.refusals(
                    context.schema._schema, context.operation_name, context.variables, self._limits
                )
        yield

    @property
    def _limits(self) -> Settings:
        return cast(Context, self.execution_context.context).graph.settings


def _validated(schema: GraphQLSchema, document: DocumentNode) -> list[GraphQLError]:
    errors = validate(schema, document, _RULES)
    if any(error.message == _ABORTED for error in errors):
        return [_refused("the document is too complex to be checked")]
    return errors


def _refused(message: str) -> GraphQLError:
    return GraphQLError(message, original_error=LimitExceeded(message))
