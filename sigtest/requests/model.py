"""What every request is made of: the model, types of its fields, and errors in our words.

A model is the check of a request in every door; `options` reads the words of shells and forms off
it, `schema_of` the JSON schema. What only data can decide is checked where they meet.
"""

import types
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Annotated, Any, ClassVar, Self, Union, get_args, get_origin

from annotated_types import Ge, GroupedMetadata, Gt, Le, Len, Lt
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    ValidationError,
    WithJsonSchema,
)
from pydantic.fields import FieldInfo
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import ErrorDetails, PydanticCustomError
from pydantic_core.core_schema import (
    CoreSchema,
    WithDefaultSchema,
    no_info_after_validator_function,
)

from sigtest.data.names import choose
from sigtest.data.text import whole
from sigtest.documented import Documented, described
from sigtest.errors import InputError, RecipeError, SigtestError, quoted

MOST_FLAWS = 20  # that are told of one request
QUOTED = 40  # characters of a wrong value that messages repeat
WRONG, UNKNOWN = "wrong", "unknown"  # types of our own errors
ELSEWHERE = "elsewhere"  # a reference in a schema that pydantic must not follow
SHAPES: dict[Any, str] = {tuple: "a list", list: "a list", dict: "an object"}


class Request(Documented):
    """A request, or an object in one.

    Attributes:
        hints: What to say besides where a field of this name is unknown.
    """

    hints: ClassVar[Mapping[str, str]] = {}
    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    @classmethod
    def of(cls, body: object, place: str = "") -> Self:
        """Check a request.

        Args:
            body: As JSON or a notebook has it.
            place: Where it stands in the whole request; nothing where it is the whole.

        Raises:
            SigtestError: The first thing that is wrong: what, where, and what would be right;
                `others` of it, the same of other fields.
        """
        if not isinstance(body, Mapping):
            what = f"{place} must be an" if place else "A question is asked for with a JSON"
            raise RecipeError(f"{what} object.", field=place or None)
        try:
            return cls.model_validate(dict(body))
        except ValidationError as error:
            found = error.errors(include_url=False)
            details = sorted(found, key=lambda one: one["type"] != "extra_forbidden")
            flaws: dict[str | int, ErrorDetails] = {}
            for detail in details:
                flaws.setdefault(detail["loc"][0] if detail["loc"] else "", detail)
            some = islice(flaws.values(), MOST_FLAWS)
            first, *rest = [_in_words(flaw, cls, place) for flaw in some]
            first.others = tuple(rest)
            raise first from None

    def chosen(self) -> dict[str, Any]:
        """What was said, without defaults."""
        return {name: getattr(self, name) for name in self.model_fields_set}


Refused = type[RecipeError | InputError]


def wrong(words: str, field: str = "", error: Refused = RecipeError) -> PydanticCustomError:
    """The error of a validator.

    Args:
        words: Behind the name of the field, without a full stop.
        field: The field, where a whole object is checked.
        error: What is raised in the end.
    """
    return PydanticCustomError(WRONG, "{words}", {"words": words, "field": field, "error": error})


# notes on types, which make them types of fields


@dataclass(frozen=True)
class Must:
    """What a value must be, in words that follow `must be`; and the error where it is not."""

    words: str
    error: Refused = RecipeError


@dataclass(frozen=True)
class OneOf(GroupedMetadata):
    """One of some names; `what` says what they are names of."""

    known: Iterable[str]
    what: str

    def __iter__(self) -> Iterator[object]:
        yield BeforeValidator(self._check)
        yield WithJsonSchema({"type": "string", "enum": list(self.known)})

    def _check(self, value: object) -> object:
        if value not in list(self.known):
            context = {"known": list(self.known), "what": self.what}
            raise PydanticCustomError(UNKNOWN, "unknown", context)
        return value


@dataclass(frozen=True)
class Distinct:
    """A list without repetition."""

    def __get_pydantic_core_schema__(
        self, source: Any, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        schema: Any = {**handler(source), "fail_fast": True}  # or many wrong entries take memory
        return no_info_after_validator_function(self._check, schema)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {**handler(schema), "uniqueItems": True}

    def _check(self, values: tuple[object, ...]) -> tuple[object, ...]:
        for value, count in Counter(values).items():
            if count > 1:
                raise wrong(f"names {value!r} {count} times")
        return values


@dataclass(frozen=True)
class Between(GroupedMetadata):
    """A number between two others, which it does not reach."""

    low: float
    high: float

    def __iter__(self) -> Iterator[object]:
        yield from (Strict(), Must("a number"), Gt(self.low), Lt(self.high))


@dataclass(frozen=True)
class WholeNumber(GroupedMetadata):
    """A whole number from one to another, however JSON writes it (1000, 1e3, 1000.0)."""

    low: int
    high: int

    def __iter__(self) -> Iterator[object]:
        # other things stay as they are, to be refused
        read = BeforeValidator(lambda own: own if (number := whole(own)) is None else number)
        yield from (Strict(), Ge(self.low), Le(self.high), read)
        yield Must(f"a whole number from {self.low} to {self.high}")


def _rising(ends: tuple[float, float]) -> tuple[float, float]:
    if ends[0] >= ends[1]:
        raise wrong(f"must rise, not go from {ends[0]:g} to {ends[1]:g}")
    return ends


Name = Annotated[str, Len(1), Must("text")]
Names = Annotated[tuple[Name, ...], Distinct()]
Flag = Annotated[bool, Strict(), Must("true or false")]
Real = Annotated[float, Strict(), Ge(-1e300), Le(1e300), Must("a finite number")]
Renames = Annotated[dict[Name, Name], Must("an object of names by names")]
Span = Annotated[
    tuple[Real, Real],
    Must("a list of the lowest and the highest score"),
    AfterValidator(_rising),
]


# the schema


class RequestSchema(GenerateJsonSchema):
    """Without titles, and without defaults that say nothing."""

    def field_title_should_be_set(self, schema: Any) -> bool:
        return False

    def default_schema(self, schema: WithDefaultSchema) -> JsonSchemaValue:
        described = super().default_schema(schema)
        return {k: v for k, v in described.items() if k != "default" or v not in (None, [], {})}


def schema_of(model: type[Request]) -> dict[str, Any]:
    """JSON schema of a request; those of objects in it stand in place."""
    found = model.model_json_schema(schema_generator=RequestSchema)
    inner = found.pop("$defs", {})
    schema: dict[str, Any] = in_sentences(found, inner)
    return schema


def in_sentences(schema: Any, inner: Mapping[str, Any]) -> Any:
    """The schema with descriptions as sentences, and without references to these others."""
    if isinstance(schema, list):
        return [in_sentences(part, inner) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if ELSEWHERE in schema:
        return {"$ref": schema[ELSEWHERE]}
    if (name := schema.get("$ref", "").removeprefix("#/$defs/")) in inner:
        beside = {k: v for k, v in schema.items() if k != "$ref"}
        return in_sentences({**inner[name], **beside}, inner)
    made = {
        k: in_sentences(value, inner)
        for k, value in schema.items()
        if k != "title" or isinstance(value, dict)
    }
    if (about := made.get("description")) and isinstance(about, str) and not about.endswith("."):
        made["description"] = f"{about[:1].upper()}{about[1:]}."
    return made


# errors in our words


def unwrapped(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """A type without `None`, and what is noted on it."""
    if get_origin(annotation) is Annotated:
        inner, *notes = get_args(annotation)
        kind, further = unwrapped(inner)
        return kind, (*notes, *further)
    if get_origin(annotation) in (Union, types.UnionType):
        parts = [part for part in get_args(annotation) if part is not type(None)]
        if len(parts) == 1:
            return unwrapped(parts[0])
    return annotation, ()


def field_types(model: type[BaseModel]) -> dict[str, Any]:
    """The type of each field, with what is noted on it."""
    return {
        name: Annotated[info.annotation, *info.metadata] if info.metadata else info.annotation
        for name, info in model.model_fields.items()
    }


def noted(notes: Iterable[Any]) -> list[Any]:
    """Notes, and those that some of them stand for."""
    return [
        part
        for note in notes
        for part in (note, *(noted(note) if isinstance(note, GroupedMetadata) else ()))
    ]


def _in_words(detail: ErrorDetails, model: type[Request], place: str) -> SigtestError:
    kind, notes = unwrapped(model)
    path, must = place, (place, Must("something else"))
    step: str | int
    way = detail["loc"]
    if detail["type"] == "missing" and isinstance(way[-1], int):
        way = way[:-1]  # of a list that is too short
    for step in way:
        fields = field_types(kind) if _is_model(kind) else None
        below = f"[{step}]" if isinstance(step, int) else f".{step}" if path and step else step
        if fields is not None and step not in fields:
            what = f"field of {path}" if path else "field"
            return _unknown(step, [*fields], path + below, what, kind.hints.get(str(step), ""))
        path += below
        kind, notes = unwrapped(fields[str(step)] if fields else _entry(kind, step))
        needs = [note for note in noted(notes) if isinstance(note, Must)]
        shape = "an object" if _is_model(kind) else SHAPES.get(get_origin(kind))
        must = (path, [*needs, Must(str(shape), must[1].error)][0]) if needs or shape else must
    value, context = detail["input"], detail.get("ctx", {})
    if detail["type"] == UNKNOWN:  # names in a list are told by the list's field
        field = path.rpartition("[")[0] if path.endswith("]") else path
        return _unknown(value, context["known"], field, context["what"])
    if detail["type"] == WRONG:
        where = ".".join(filter(None, (path, context["field"])))
        refused: SigtestError = context["error"](f"{where} {detail['msg']}.", field=where)
        return refused
    if detail["type"] in ("greater_than", "less_than"):
        between = next(note for note in noted(notes) if isinstance(note, Between))
        words = f"lie between {between.low:g} and {between.high:g}, not {value:g}"
        return RecipeError(f"{path} must {words}.", field=path)
    path, needed = must
    if detail["type"] == "missing" and way == detail["loc"]:
        return needed.error(f"{path} is missing; it must be {needed.words}.", field=path)
    wanted = f"{needed.words}, not {quoted(value, QUOTED)}"
    return needed.error(f"{path} must be {wanted}.", field=path)


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _entry(kind: Any, step: str | int) -> Any:
    """The type of an entry of a list or an object."""
    inner = [part for part in get_args(kind) if part is not Ellipsis]
    return inner[step if isinstance(step, int) and step < len(inner) else -1] if inner else Any


def _unknown(
    name: object, known: Sequence[str], field: str, what: str, hint: str = ""
) -> RecipeError:
    try:
        choose(name, known, field, what, hint)
    except RecipeError as error:
        return error
    raise AssertionError(f"{name!r} is known")


# options of the shell and controls of forms, read off the models

Words = Sequence[str]


@dataclass(frozen=True)
class Option:
    """One field of a request, as it is asked for in words.

    Attributes:
        name: In the request.
        about: What it says, in a phrase.
        info: What the model says of it.
        kind: The type of one of its values, without notes; an object's model.
        several: Whether it holds a list of them.
        known: The names to choose from, where there are some.
    """

    name: str
    about: str
    info: FieldInfo
    kind: Any
    several: bool
    known: tuple[str, ...]

    @property
    def default(self) -> str | float | None:
        """Its value where it is left out, where that can be said in a word."""
        usual = self.info.get_default()
        return usual if isinstance(usual, str | int | float) and usual is not False else None

    @property
    def word(self) -> str:
        """What the shell calls it."""
        return self.info.title or self.name

    @property
    def flag(self) -> str:
        """The option of the shell."""
        return f"--{self.word.replace('_', '-')}"

    @property
    def repeatable(self) -> bool:
        """Whether the shell takes it more than once."""
        return self.several or get_origin(self.kind) is dict

    @property
    def metavar(self) -> str:
        """What stands for its value."""
        if _is_model(self.kind):
            needed = all(info.is_required() for info in self.kind.model_fields.values())
            return "FIELD=VALUE,..." if needed else "VALUE[:FIELD=VALUE,...]"
        written = {dict: "FROM=TO", tuple: "LOW,HIGH", float: "NUMBER", int: "N", Union: "N"}
        usual = "NAME" if self.known or self.several else "TEXT"
        return written.get(get_origin(self.kind) or self.kind, usual)

    @property
    def help(self) -> str:
        """What the shell says of it."""
        some = f"{'some' if self.several else 'one'} of {', '.join(self.known)}"
        parts = (
            self.about,
            some if self.known else "",
            "repeatable" if self.repeatable else "",
            "" if self.default is None else f"default {self.default}",
        )
        return "; ".join(filter(None, parts))

    def read(self, words: Words) -> object:
        """What words mean, unchecked; one for each time that the option is given."""
        if self.several:
            return [self._value(word) for word in words]
        return _renames(self.name, words) if self.repeatable else self._value(words[-1])

    def _value(self, word: str) -> object:
        if _is_model(self.kind):
            return _members(self.name, self.kind, word)
        if get_origin(self.kind) is tuple:
            return [spelled(end, float) for end in word.split(",")]
        if self.kind is bool:
            return True
        if get_origin(self.kind) is Union:  # a whole number, or a word in its place
            return spelled(word, int)
        return spelled(word, self.kind) if self.kind in (int, float) else word


def options(model: type[Request], without: Sequence[str] = ()) -> tuple[Option, ...]:
    """The fields of a model that can be said in words."""
    words = described(model)
    return tuple(
        _option(name, model.model_fields[name], kind, words)
        for name, kind in field_types(model).items()
        if name not in without
    )


def words_of(fields: Sequence[Option], namespace: object) -> dict[str, Any]:
    """What options say, as a request has it.

    Args:
        fields: Of the request.
        namespace: Has the words of each option that is given, under its field's name.

    Raises:
        RecipeError: An option that says nothing of the kind that it must.
    """
    request: dict[str, Any] = {}
    for field in fields:
        given = getattr(namespace, field.name)
        if given:
            words = [given] if isinstance(given, str) else given
            request[field.name] = given if field.kind is bool else field.read(words)
    return request


def _option(name: str, info: FieldInfo, annotation: Any, words: Mapping[str, str]) -> Option:
    kind, notes = unwrapped(annotation)
    several = get_origin(kind) is tuple and get_args(kind)[-1] is Ellipsis
    if several:
        kind, notes = unwrapped(get_args(kind)[0])
    elif get_origin(kind) is dict and _is_model(get_args(kind)[1]):
        kind = get_args(kind)[1]  # words say one of them
    known = next((tuple(note.known) for note in noted(notes) if isinstance(note, OneOf)), ())
    about = words.get(name, info.description or "").removesuffix(".")
    if about[1:2].islower() or about[1:2] == " ":
        about = about[:1].lower() + about[1:]
    return Option(name, about, info, kind, several, known)


def _renames(name: str, words: Words) -> dict[str, str]:
    """New names by old ones."""
    found: dict[str, str] = {}
    for word in words:
        old, equals, new = word.rpartition("=")
        if not equals:
            raise RecipeError(f"{name} takes FROM=TO, not {word!r}.", field=name)
        if found.setdefault(old, new) != new:
            raise RecipeError(f"{name} gives {old!r} two names.", field=name)
    return found


def _members(name: str, model: type[Request], word: str) -> dict[str, object]:
    """An object, whose first field may be given by its value alone."""
    first, _, rest = word.partition(":")
    if "=" in first:
        first, rest = "", word
    known = {option.name: option for option in options(model)}
    found: dict[str, object] = {next(iter(known)): first} if first else {}
    for part in filter(None, rest.split(",")):
        field, equals, value = part.partition("=")
        if not equals:
            raise RecipeError(f"{name}: {part!r} needs a value: {part}=VALUE.", field=name)
        found[field] = known[field].read([value]) if field in known else value
    return found


def spelled(word: str, kind: Callable[[str], float]) -> object:
    """A number as it is spelled in words; other words are left for the check to refuse."""
    try:
        return kind(word)
    except ValueError:
        return word
