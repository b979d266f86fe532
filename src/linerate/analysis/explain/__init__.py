"""Evidence to verdict: which resource limits, and the lines that say so."""

from linerate.analysis.explain.judge import explain
from linerate.analysis.explain.model import LIMITS, Ceiling, Confidence, Finding, Limit, Verdict

__all__ = ["LIMITS", "Ceiling", "Confidence", "Finding", "Limit", "Verdict", "explain"]
