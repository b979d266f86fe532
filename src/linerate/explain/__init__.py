"""Evidence to verdict: which resource limits, and the lines that say so."""

from linerate.explain.judge import explain
from linerate.explain.model import LIMITS, Ceiling, Confidence, Finding, Limit, Verdict

__all__ = ["LIMITS", "Ceiling", "Confidence", "Finding", "Limit", "Verdict", "explain"]
