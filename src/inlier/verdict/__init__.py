"""What a fit decides, in its working coordinates: rules, what there is to report, the verdict."""

from inlier.verdict.decision import Step, Verdict
from inlier.verdict.findings import (
    Doubt,
    Failure,
    Finding,
    Given,
    Kind,
    Outcome,
    WeakEvidenceWarning,
)  # fmt: skip
from inlier.verdict.rules import (
    Group,
    GroupRule,
    Multiplier,
    Suspect,
    of_budget,
    rule_of,
    squared_parts,
)  # fmt: skip

__all__ = [
    "Doubt", "Failure", "Finding", "Given", "Group", "GroupRule", "Kind", "Multiplier", "Outcome",
    "Step", "Suspect", "Verdict", "WeakEvidenceWarning", "of_budget", "rule_of", "squared_parts",
]  # fmt: skip
