"""The one analyzer, used on write and on query: normalise, tokenise, stop, stem, per language; versioned."""

from trivium.text.analyzer import ANALYZER_VERSION, QueryToken, index_terms, query_terms, typo_distance
from trivium.text.detect import detect_language
from trivium.text.languages import DEFAULT_LANGUAGE, LANGUAGES, resolve_language

__all__ = [
    "ANALYZER_VERSION",
    "DEFAULT_LANGUAGE",
    "LANGUAGES",
    "QueryToken",
    "detect_language",
    "index_terms",
    "query_terms",
    "resolve_language",
    "typo_distance",
]
