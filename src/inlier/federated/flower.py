"""A strategy for Flower's message API that rejects faulty and malicious nodes."""

from __future__ import annotations

from collections.abc import Iterable
from logging import INFO, WARNING
from typing import Any, get_args

import numpy as np

from inlier._internal.optional import optional
from inlier._internal.validation import check_choice
from inlier.federated.aggregation import Aggregate, OnDoubt, aggregate
from inlier.federated.messages import capped_counts
from inlier.federated.record import Record

PURPOSE = "For the strategy for Flower"
flwr_app = optional("flwr.app", PURPOSE, "flower")
flwr_common = optional("flwr.common", PURPOSE, "flower")
FedAvg: Any = optional("flwr.serverapp.strategy", PURPOSE, "flower").FedAvg


class RobustFedAvg(FedAvg):
    """Average the arrays that nodes trained, without faulty and malicious nodes.

    Takes the arguments of Flower's FedAvg. Replies that cannot be used are rejected one by one,
    where FedAvg would skip the round. The metrics of a round name the rejected nodes
    ("rejected-nodes"), count them ("num-rejected"), and are averaged over the others with the
    capped numbers of examples; metrics that are not finite numbers are ignored.

    Parameters
    ----------
    *args, **kwargs
        Of FedAvg.
    on_doubt : {"warn", "raise"}, default="warn"
        As for `aggregate`; an error ends the training.

    Attributes
    ----------
    record : Record
        Evidence from earlier rounds.
    result : Aggregate or None
        The result of the last round; `result.reasons` has a sentence for each rejected node.
    """

    def __init__(self, *args: Any, on_doubt: OnDoubt = "warn", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        check_choice(on_doubt, "on_doubt", get_args(OnDoubt))
        self.on_doubt = on_doubt
        self.record = Record()
        self.result: Aggregate | None = None

    def aggregate_train(
        self, server_round: int, replies: Iterable[Any]
    ) -> tuple[Any | None, Any | None]:
        """Aggregate the replies of a round of training."""
        valid, _ = self._check_and_log_replies(replies, is_train=True, validate=False)
        if not valid:
            return None, None
        nodes = [message.metadata.src_node_id for message in valid]
        contents = [message.content for message in valid]
        sent = [_arrays(content) for content in contents]
        claims = [_claim(content, self.weighted_by_key) for content in contents]
        try:
            result = aggregate(
                sent, claims, self.record, clients=_distinct(nodes), on_doubt=self.on_doubt
            )
        except ValueError as error:
            flwr_common.log(WARNING, "aggregate_train: round %s: %s", server_round, error)
            return None, None
        self.result = result
        for reason in result.reasons.values():
            flwr_common.log(INFO, "aggregate_train: %s", reason)
        kept = [i for i in range(len(nodes)) if i not in result.reasons]
        metrics = self._averaged([contents[i] for i in kept])
        metrics["rejected-nodes"] = [int(nodes[i]) for i in result.rejected]
        metrics["num-rejected"] = len(result.rejected)
        arrays = {name: flwr_app.Array(np.asarray(x)) for name, x in result.update.items()}
        return flwr_app.ArrayRecord(arrays), metrics

    def _averaged(self, contents: list[Any]) -> Any:
        """Average the metrics of the kept nodes."""
        usable = _same_metrics(contents, self.weighted_by_key)
        try:
            return self.train_metrics_aggr_fn(usable, self.weighted_by_key)
        except Exception as error:  # the metrics of a node must not end the training
            flwr_common.log(WARNING, "aggregate_train: metrics ignored (%r)", error)
            return flwr_app.MetricRecord()


def _arrays(content: Any) -> dict[str, Any] | None:
    """Return the arrays of a reply by name; None if they cannot be read."""
    try:
        (record,) = content.array_records.values()
        return {name: array.numpy() for name, array in record.items()}
    except Exception:  # rejected by name
        return None


def _claim(content: Any, key: str) -> Any:
    """Return the number of examples that a node claims; nan if it does not report one."""
    try:
        (record,) = content.metric_records.values()
        return record[key]
    except Exception:  # rejected by name
        return float("nan")


def _distinct(names: list[Any]) -> list[Any]:
    """Return the names; the second reply of a name counts as another client."""
    seen: dict[Any, int] = {}
    out = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        out.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return out


def _same_metrics(contents: list[Any], key: str) -> list[Any]:
    """Return records of the metrics that all nodes report as finite numbers, counts capped."""
    records = [dict(next(iter(content.metric_records.values()))) for content in contents]
    names = set.intersection(*(set(record) for record in records))
    good = [name for name in names if all(_is_number(record[name]) for record in records)]
    claims = [record[key] for record in records]
    capped, _ = capped_counts(claims, len(claims))
    found = []
    for record, count in zip(records, capped, strict=True):
        metrics = {name: record[name] for name in sorted(good)} | {key: float(count)}
        found.append(flwr_app.RecordDict({"metrics": flwr_app.MetricRecord(metrics)}))
    return found


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and bool(np.isfinite(value))
