"""The reference of the HTTP API, made from its OpenAPI document.

Owns the two forms: an HTML page served at ``/docs`` and the Markdown of ``docs/http-api.md``,
which ``python -m sumfit.serving.reference`` prints.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from html import escape
from typing import Any

__all__ = ["to_html", "to_markdown"]

_FIRST = ("text", "texts", "limits", "model", "messages")
_INTRO = (
    "Start the server with `sumfit serve`; it listens on http://127.0.0.1:8077 unless told "
    "otherwise. Requests and replies are JSON. Every error has the shape "
    '`{"error": {"type", "message", "param", "request_id"}}`. '
    "The machine-readable description is at `/openapi.json`."
)
# Hidden until the script that sends it has loaded.
_TRY = (
    '<form id="try" class="card" hidden><h2><label for="try-body">Try <code>POST /v1/summarize'
    '</code></label></h2><textarea id="try-body" rows="4" spellcheck="false"></textarea>'
    '<p class="row"><button type="submit">Send</button></p>'
    '<pre id="try-reply" role="status" tabindex="0" aria-label="Reply" hidden></pre></form>'
)


def to_html(openapi: Mapping[str, Any]) -> str:
    """Write the reference as one page, readable without scripts; one tries a request.

    Args:
        openapi: The OpenAPI document.

    Returns:
        HTML.
    """
    body: list[str] = [_contents(openapi), _TRY]
    for verb, path, operation in _operations(openapi):
        body.append(
            f'<h2 id="{_anchor(verb, path)}"><span class="verb">{verb}</span>'
            f"<code>{escape(path)}</code></h2>"
            f"<p>{_code(_sentence(operation))}</p>"
        )
        for name in _schema_names(operation):
            rows = "".join(
                f"<tr><td><code>{escape(field)}</code></td><td>{escape(kind)}</td>"
                f"<td>{_code(text)}</td></tr>"
                for field, kind, text in _fields(openapi, name)
            )
            body.append(
                f"<h3>{escape(name)}</h3><table><thead><tr><th>Field</th><th>Type</th>"
                f"<th>Meaning</th></tr></thead><tbody>{rows}</tbody></table>"
            )
        example = _example(openapi, operation)
        if example:
            body.append(f"<pre><code>{escape(_curl(verb, path, example))}</code></pre>")
    body.append('<h2 id="statuses">Statuses</h2><table><tbody>')
    for status, text in _statuses(openapi):
        body.append(f"<tr><td><code>{status}</code></td><td>{escape(text)}</td></tr>")
    body.append("</tbody></table>")
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<title>sumfit: HTTP API</title><link rel="icon" href="page/icon.svg">'
        '<link rel="stylesheet" href="page/style.css">'
        '<script type="module" src="page/try.js"></script></head><body>'
        '<header class="top"><div class="brand"><h1>sumfit</h1><p class="tagline">HTTP API</p>'
        '</div><nav aria-label="Site"><a href="./">Page</a> <a href="openapi.json">OpenAPI</a>'
        f'</nav></header><main class="reference"><p>{_code(_INTRO)}</p>{"".join(body)}</main>'
        "</body></html>"
    )


def to_markdown(openapi: Mapping[str, Any]) -> str:
    """Write the reference as Markdown.

    Args:
        openapi: The OpenAPI document.

    Returns:
        Text with a final line end.
    """
    lines = ["# HTTP API", "", _INTRO, ""]
    for verb, path, operation in _operations(openapi):
        lines += [f"## {verb} {path}", "", _sentence(operation), ""]
        example = _example(openapi, operation)
        if example:
            lines += ["```sh", _curl(verb, path, example), "```", ""]
        for name in _schema_names(operation):
            lines += [f"### {name}", "", "| field | type | meaning |", "| --- | --- | --- |"]
            for field, kind, text in _fields(openapi, name):
                shown = kind.replace("|", "or")
                lines.append(f"| `{field}` | {shown} | {text.replace('|', '/')} |")
            lines.append("")
    lines += ["## Statuses", "", "| status | when |", "| --- | --- |"]
    lines += [f"| {status} | {text} |" for status, text in _statuses(openapi)]
    return "\n".join(lines) + "\n"


def _contents(openapi: Mapping[str, Any]) -> str:
    links = "".join(
        f'<li><a href="#{_anchor(verb, path)}"><code>{verb} {escape(path)}</code></a>: '
        f"{escape(operation.get('summary', ''))}</li>"
        for verb, path, operation in _operations(openapi)
    )
    return (
        f'<nav aria-label="Routes" class="routes"><ul>{links}'
        '<li><a href="#statuses">Statuses</a></li></ul></nav>'
    )


def _anchor(verb: str, path: str) -> str:
    return f"{verb.lower()}{path.replace('/', '-')}"


def _operations(openapi: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, verbs in openapi["paths"].items():
        for verb, operation in verbs.items():
            yield verb.upper(), path, operation


def _sentence(operation: Mapping[str, Any]) -> str:
    return f"{operation.get('summary', '')}. {operation.get('description', '')}".strip()


def _schema_names(operation: Mapping[str, Any]) -> list[str]:
    places = [operation.get("requestBody"), operation["responses"].get("200")]
    names: list[str] = []
    for place in places:
        for part in (place or {}).get("content", {}).values():
            names += _refs(part.get("schema", {}))
    return list(dict.fromkeys(names))


def _refs(schema: Mapping[str, Any]) -> list[str]:
    if "$ref" in schema:
        return [schema["$ref"].rpartition("/")[2]]
    return [name for part in schema.get("anyOf", []) for name in _refs(part)]


def _fields(openapi: Mapping[str, Any], name: str) -> Iterator[tuple[str, str, str]]:
    schema = openapi["components"]["schemas"][name]
    required = set(schema.get("required", []))
    properties = schema.get("properties", {})
    for field in sorted(properties, key=lambda name: name not in _FIRST):  # the rest as declared
        part = properties[field]
        text = part.get("description", "")
        if field in required and "requestBody" not in name:
            text = f"{text} (always there)".strip()
        default = part.get("default")
        if default not in (None, []):
            text = f"{text} (default `{json.dumps(default)}`)".strip()
        yield field, _kind(part), text


def _kind(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rpartition("/")[2]
    if "anyOf" in schema:
        kinds = [_kind(part) for part in schema["anyOf"] if part.get("type") != "null"]
        return " | ".join(dict.fromkeys(kinds))
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    if "const" in schema:
        return json.dumps(schema["const"])
    if schema.get("type") == "array":
        return f"list of {_kind(schema.get('items', {}))}"
    return str(schema.get("type", "any"))


def _example(openapi: Mapping[str, Any], operation: Mapping[str, Any]) -> str:
    content = operation.get("requestBody", {}).get("content", {})
    for part in content.values():
        for name in _refs(part.get("schema", {})):
            examples = openapi["components"]["schemas"][name].get("examples")
            if examples:
                return json.dumps(examples[0])
    return ""


def _curl(verb: str, path: str, example: str) -> str:
    return (
        f"curl -s -X {verb} http://127.0.0.1:8077{path} \\\n"
        f"  -H 'content-type: application/json' \\\n  -d '{example}'"
    )


def _statuses(openapi: Mapping[str, Any]) -> list[tuple[str, str]]:
    found: dict[str, str] = {}
    for _, _, operation in _operations(openapi):
        for status, reply in operation["responses"].items():
            if status != "200":
                found[status] = reply.get("description", "")
    return sorted(found.items())


def _code(text: str) -> str:
    """Escape, and turn back-quoted parts into code."""
    parts = escape(text, quote=False).split("`")
    return "".join(
        f"<code>{part}</code>" if index % 2 else part for index, part in enumerate(parts)
    )


if __name__ == "__main__":
    from sumfit.serving.app import openapi_document

    sys.stdout.write(to_markdown(openapi_document()))
