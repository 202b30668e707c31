"""The gradients of a network, one for each row."""

from typing import Any, Literal

import numpy as np

from inlier._internal.optional import optional
from inlier._internal.typing import Array
from inlier._internal.validation import check_choice

# Rows whose gradients are in memory at once, as they are and before they are projected.
BATCH = 64


def torch_gradients(
    module: Any,
    loss: Any,
    X: Any,
    y: Any,
    *,
    parameters: Literal["last", "all"] = "last",
    max_columns: int = 512,
    random_state: int = 0,
) -> Array:
    """Compute the gradient of the loss of each row in the parameters of a torch module.

    Where there are more parameters than `max_columns`, gradients are projected at random as they
    are computed: each parameter is added to one of `max_columns` sums with a random sign, which
    keeps lengths and angles on average (count sketch).

    Parameters
    ----------
    module : torch.nn.Module
        A network; evaluated without dropout.
    loss : callable
        A function of outputs and targets such as `torch.nn.CrossEntropyLoss()`, of one row.
    X : array of shape (n, ...)
        Its inputs.
    y : array of shape (n, ...)
        The targets.
    parameters : {"last", "all"}, default="last"
        Those of the last layer that has any, or all that are trained.
    max_columns : int, default=512
        The largest number of columns of the answer.
    random_state : int, default=0
        Seed of the projection.

    Returns
    -------
    ndarray of shape (n, min(n_parameters, max_columns))
        The gradients.
    """
    torch = optional("torch", "For the gradients of a network", "torch")
    check_choice(parameters, "parameters", ("last", "all"))
    func = torch.func
    trained = {name: p for name, p in module.named_parameters() if p.requires_grad}
    if not trained:
        raise ValueError("module has no parameter that is trained.")
    some = trained
    if parameters == "last":
        layer = list(trained)[-1].rpartition(".")[0]
        some = {name: p for name, p in trained.items() if name.rpartition(".")[0] == layer}
    others = {name: p for name, p in module.named_parameters() if name not in some}
    fixed = {**others, **dict(module.named_buffers())}

    def loss_of_row(values: Any, row: Any, target: Any) -> Any:
        output = func.functional_call(module, {**fixed, **values}, (row[None],))
        return loss(output, target[None])

    rowwise = func.vmap(func.grad(loss_of_row), in_dims=(None, 0, 0))
    example = next(iter(trained.values()))
    X = X.toarray() if hasattr(X, "toarray") else X
    rows = torch.as_tensor(np.asarray(X) if not torch.is_tensor(X) else X)
    rows = rows.to(device=example.device, dtype=example.dtype)
    goals = torch.as_tensor(np.asarray(y) if not torch.is_tensor(y) else y, device=example.device)
    if goals.is_floating_point():
        goals = goals.to(example.dtype)
    width = sum(p.numel() for p in some.values())
    columns = min(width, max_columns)
    random = np.random.default_rng(random_state)
    place = torch.as_tensor(random.integers(columns, size=width), device=example.device)
    sign = torch.as_tensor(random.choice([-1.0, 1.0], size=width), device=example.device)
    values = {name: p.detach() for name, p in some.items()}
    was_training = module.training
    module.eval()
    found = np.empty((len(rows), columns))
    try:
        for start in range(0, len(rows), BATCH):
            part = slice(start, start + BATCH)
            gradients = rowwise(values, rows[part], goals[part])
            flat = torch.cat([g.reshape(len(g), -1) for g in gradients.values()], dim=1)
            if width > columns:
                sums = torch.zeros(len(flat), columns, device=flat.device, dtype=flat.dtype)
                flat = sums.index_add_(1, place, flat * sign.to(flat.dtype))
            found[part] = flat.detach().cpu().numpy()
    finally:
        module.train(was_training)
    return found
