"""The text that names an embedder, taken apart and put together: `onnx:/models/e5?query_prefix=query%3A+&threads=2`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, TypeAlias, TypeVar
from urllib.parse import parse_qsl, unquote, urlencode

from trivium.errors import InvalidInput

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Value: TypeAlias = str | int | float | bool | None
_Options = TypeVar("_Options", bound="DataclassInstance")


def split_spec(spec: str) -> tuple[str, dict[str, str]]:
    """What stands before the question mark, and the options behind it."""
    head, mark, tail = spec.partition("?")
    try:
        return head, dict(parse_qsl(tail, keep_blank_values=True, strict_parsing=bool(mark)))
    except ValueError as error:
        raise InvalidInput(f"embedder: {spec!r} has options that are not written name=value&name=value") from error


def join_spec(head: str, options: DataclassInstance) -> str:
    """The head and every option that is not at its default: what `split_spec` and `filled` take back."""
    told = {}
    for field in fields(options):
        value: Value = getattr(options, field.name)
        if field.default is not MISSING and value != field.default:
            told[field.name] = str(value).lower() if isinstance(value, bool) else str(value)
    return f"{head}?{urlencode(told)}" if told else head


def filled(options: _Options, told: Mapping[str, str]) -> _Options:
    """A copy of the options with those told in a spec. Raises InvalidInput on an unknown name or a wrong value."""
    settable = {field.name: field.default for field in fields(options) if field.default is not MISSING}
    values: dict[str, Value] = {field.name: getattr(options, field.name) for field in fields(options)}
    for name, text in told.items():
        if name not in settable:
            raise InvalidInput(f"embedder: the option {name!r} is unknown; known here: {', '.join(settable)}")
        values[name] = _value(name, text, settable[name])
    return type(options)(**values)


def escape(name: str) -> str:
    """A name without the signs that have a meaning in a spec."""
    return name.replace("%", "%25").replace("?", "%3F").replace("#", "%23")


def unescape(name: str) -> str:
    return unquote(name)


def _value(name: str, text: str, default: Value) -> Value:
    """The text as a value of the default's type; options that may be absent are whole numbers."""
    if isinstance(default, str):
        return text
    if isinstance(default, bool):
        if text not in ("true", "false"):
            raise InvalidInput(f"embedder: {name} must be true or false, not {text!r}")
        return text == "true"
    try:
        return float(text) if isinstance(default, float) else int(text)
    except ValueError as error:
        raise InvalidInput(f"embedder: {name} must be a number, not {text!r}") from error
