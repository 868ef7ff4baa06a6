"""Spec -> embedder. The one place that names them all; what a spec needs is imported when it is asked for.

    static                                            the default: offline, nothing to download
    onnx:/folder                                      a folder with model.onnx and tokenizer.json
    sentence-transformers:NAME_OR_FOLDER              a model on this machine
    openai:MODEL  voyage:MODEL  ollama:MODEL          with OPENAI_API_KEY, VOYAGE_API_KEY, no key
    http://HOST/v1#MODEL  https://HOST/v1#MODEL       any server that speaks as OpenAI does

Options follow a question mark: `onnx:/models/e5?query_prefix=query%3A+`, `openai:text-embedding-3-large?dimension=512`.
"""

from __future__ import annotations

from trivium.errors import InvalidInput
from trivium.models.embed import Embedder
from trivium.models.spec import filled, split_spec, unescape

DEFAULT_SPEC = "static"
KNOWN = (
    "static, onnx:FOLDER, sentence-transformers:NAME, openai:MODEL, voyage:MODEL, ollama:MODEL, http://HOST/v1#MODEL"
)


def load_embedder(spec: str = DEFAULT_SPEC) -> Embedder:
    """The embedder a spec names; its card's spec names it again. Models are loaded at the first use, not here.
    Raises InvalidInput where the spec is wrong, MissingExtra where a dependency is not installed."""
    head, options = split_spec(spec)
    kind, _, name = head.partition(":")
    if kind in ("http", "https", "openai", "voyage", "ollama") and name:
        return _over_http(kind, name, options)
    if kind == "onnx" and name:
        from trivium.models.onnx import OnnxEmbedder, OnnxOptions

        return OnnxEmbedder(unescape(name), filled(OnnxOptions(), options))
    if kind == "sentence-transformers" and name:
        from trivium.models.sentence_transformers import SentenceTransformersEmbedder, SentenceTransformersOptions

        return SentenceTransformersEmbedder(unescape(name), filled(SentenceTransformersOptions(), options))
    if spec == "static":
        from trivium.models.static import StaticEmbedder

        return StaticEmbedder()
    raise InvalidInput(f"embedder: {spec!r} is unknown; known are {KNOWN}")


def _over_http(kind: str, name: str, options: dict[str, str]) -> Embedder:
    from trivium.models.http import Endpoint, HttpEmbedder

    match kind:
        case "openai":
            field = "dimensions" if "dimension" in options else ""
            endpoint = Endpoint(base_url="https://api.openai.com/v1", model=unescape(name), key_env="OPENAI_API_KEY")
        case "voyage":
            field = "output_dimension" if "dimension" in options else ""
            endpoint = Endpoint(
                base_url="https://api.voyageai.com/v1", model=unescape(name), key_env="VOYAGE_API_KEY", input_type=True
            )
        case "ollama":
            field = ""
            endpoint = Endpoint(base_url="http://localhost:11434/v1", model=unescape(name))
        case _:
            field = ""
            url, _, model = name.partition("#")
            endpoint = Endpoint(base_url=f"{kind}:{url}", model=unescape(model))
    return HttpEmbedder(filled(endpoint, ({"dimension_field": field} if field else {}) | options))
