"""What a fit decides, in its working coordinates: rules, findings and the verdict."""

from inlier.verdict.findings import (
    DOUBTS,
    FAILURES,
    Finding,
    Kind,
    Outcome,
    WeakEvidenceWarning,
)
from inlier.verdict.records import Step, Verdict
from inlier.verdict.rules import (
    Group,
    GroupRule,
    Multiplier,
    Suspect,
    of_budget,
    rule_of,
    squared_parts,
)

__all__ = [
    "DOUBTS",
    "FAILURES",
    "Finding",
    "Group",
    "GroupRule",
    "Kind",
    "Multiplier",
    "Outcome",
    "Step",
    "Suspect",
    "Verdict",
    "WeakEvidenceWarning",
    "of_budget",
    "rule_of",
    "squared_parts",
]
