"""Mistakes in what a user wrote, one clear line each."""

from typing import Any

import yaml
from pydantic_core import ErrorDetails


def yaml_mistake(error: yaml.YAMLError) -> str:
    """One line: where, and what was expected."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        # An unterminated construct is reported behind the last line.
        mark = error.context_mark or error.problem_mark
        return f"line {mark.line + 1}: expected YAML: {error.problem}"
    return "expected YAML"


def mistake(source: str, error: ErrorDetails) -> str:
    """One line: file, key, what was expected."""
    # In brackets: which of several models was tried, which is no key of the file.
    parts = (str(part) for part in error["loc"])
    key = ".".join(part for part in parts if not part.startswith("("))
    expected = _expected(error)
    return f"{source}: {key}: {expected}" if key else f"{source}: {expected}"


#: Expected values, by pydantic's type of error; {given} and pydantic's context are filled in.
_EXPECTED = {
    "missing": "required, but missing",
    "extra_forbidden": "no such key",
    "value_error": "{error}",
    "literal_error": "expected {expected}, not {given}",
    "int_parsing": "expected a whole number, not {given}",
    "int_type": "expected a whole number, not {given}",
    "int_from_float": "expected a whole number, not {given}",
    "float_parsing": "expected a number, not {given}",
    "float_type": "expected a number, not {given}",
    "bool_parsing": "expected true or false, not {given}",
    "bool_type": "expected true or false, not {given}",
    "string_type": "expected text, not {given}",
    "string_too_short": "expected a text that is not empty",
    "greater_than": "expected more than {gt}, not {given}",
    "greater_than_equal": "expected {ge} or more, not {given}",
    "less_than_equal": "expected {le} or less, not {given}",
    "model_type": "expected keys and values, not {given}",
    "model_attributes_type": "expected keys and values, not {given}",
    "tuple_type": "expected a list, not {given}",
    "too_short": "expected a list of {min_length} or more, not of {actual_length}",
    "too_long": "expected a list of {max_length}, not of {actual_length}",
}

#: The same of texts, by the pattern that they are to fit.
_EXPECTED_TEXT = {
    r"^[A-Za-z0-9_-]{1,40}$": "1 to 40 letters, digits, '-' and '_'",
    r"^[A-Za-z0-9_.:-]{1,40}$": "1 to 40 letters, digits, '-', '_', '.' and ':'",
    r"^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$": "a MAC address as 02:00:00:00:0e:00",
    r"^[0-9a-fA-F.:]+$": "an IP address",
    r"^[A-Za-z0-9._-]{1,253}(:\d{1,5}:\d{1,5})?$": "a host, or HOST:4501:4500",
    r"^[^,\s]{1,107}$": "a path of 1 to 107 bytes without blanks and commas",
    r"^[^/\s,]{1,15}$": "an interface's name",
    r"^[A-Za-z0-9][A-Za-z0-9_./:@-]{0,63}$": "a port's name as the box has it",
    r"^[a-z][a-z0-9_]{0,40}$": "a parser's name, as vpp_errors",
    r"^/[\w./@+-]{1,200}$": "an absolute path of letters, digits and '_./@+-'",
    r"^[A-Za-z0-9_][A-Za-z0-9_. +/:-]{0,63}$": "a name of 1 to 64 letters, digits and '_. +/:-'",
    r"^[^:\s\x00-\x1f-][^:\x00-\x1f]*$|^$": "a login without colons and controls",
    r"^[A-Za-z_][A-Za-z0-9_]*$": "the name of an environment variable",
    r"^[A-Za-z0-9][A-Za-z0-9_./-]{0,99}$|^$": "a commit, tag or branch",
    r"^[^-].*$": "a path or a URL",
    r"^[a-z]+://[^\s/]{1,260}$": "tls://HOST:PORT",
    r"^/redfish/[A-Za-z0-9_./:%~-]{1,200}$": "a path that begins with /redfish/",
}


def _expected(error: ErrorDetails) -> str:
    context: dict[str, Any] = error.get("ctx", {})
    if error["type"] == "string_pattern_mismatch" and context["pattern"] in _EXPECTED_TEXT:
        return f"expected {_EXPECTED_TEXT[context['pattern']]}, not {_short(error['input'])}"
    text = _EXPECTED.get(error["type"])
    if text is None:
        return f"{error['msg'][:1].lower()}{error['msg'][1:]}, not {_short(error['input'])}"
    return text.format(**context | {"given": _short(error["input"])})


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."
