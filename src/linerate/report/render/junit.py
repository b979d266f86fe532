"""A document's cases as JUnit XML, which systems of continuous integration show as tests."""

import re
from itertools import groupby
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from linerate.report.case import Case
from linerate.report.document import Document

#: Characters that XML 1.0 can't hold, not even as references.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(document: Document) -> str:
    """One suite a group of cases, in the form that the xunit2 schema of Jenkins takes."""
    root = Element("testsuites", name=_kept(document.title))
    for group, cases in groupby(document.cases(), key=lambda case: case.group):
        _suite(root, group, list(cases))
    indent(root)
    text: str = tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'


def _suite(root: Element, group: str, cases: list[Case]) -> None:
    counts = {
        name: str(sum(case.outcome == outcome for case in cases))
        for name, outcome in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped"))
    }
    seconds = sum(case.seconds for case in cases)
    about = {"name": _kept(group), "tests": str(len(cases)), "time": f"{seconds:.3f}"}
    suite = SubElement(root, "testsuite", about | counts)
    for case in cases:
        _case(suite, case)


def _case(suite: Element, case: Case) -> None:
    made = SubElement(suite, "testcase", classname=f"linerate.{_kept(case.group)}",
                      name=_kept(case.name), time=f"{case.seconds:.3f}")  # fmt: skip
    if case.figures:
        properties = SubElement(made, "properties")
        for name, value in case.figures:
            SubElement(properties, "property", name=_kept(name), value=_kept(value))
    if case.outcome != "passed":
        SubElement(made, case.outcome, message=_kept(case.message))
    if case.text:
        SubElement(made, "system-out").text = _kept(case.text)


def _kept(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
