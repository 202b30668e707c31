"""
A burst of photographs, as a tensor
===================================

60 noisy shots of the same 64 x 64 pixels of scikit-image's ``camera``, in single precision, as a
tensor of PyTorch. During 15 of them somebody walked through the picture.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch
from skimage.data import camera

import inlier

device = "cuda" if torch.cuda.is_available() else "cpu"
scene = torch.tensor(camera()[90:154, 200:264] / 255.0, dtype=torch.float32, device=device)
noise = torch.randn((60, 64, 64), generator=torch.Generator().manual_seed(0)).to(device)
shots = scene + 0.3 * noise
disturbed = torch.arange(60) >= 45
for shot in range(45, 60):
    shots[shot, 12:, 18 + shot % 15 : 34 + shot % 15] = 0.9 + 0.3 * noise[shot, :52, :16]

# %%
# 60 rows and 4,096 columns: the fit works with the products of the rows, reads the tensor where it
# lies, and answers with tensors on the same device.

X = shots.reshape(60, -1)
result = inlier.robust_mean(X, assume="symmetric")
print(result.message)
print(type(result.location).__name__, result.location.dtype, result.location.device)
print("removed:", result.outliers.tolist())

# %%
# Single precision gives the verdict of double precision.

double = inlier.robust_mean(X.to(torch.float64), assume="symmetric")
print("the same rows:", bool((double.support == result.support).all()))

# %%

pictures = {
    "one shot": shots[0],
    "a disturbed one": shots[-1],
    "plain mean": X.mean(dim=0),
    "inlier": result.location,
}
figure, axes = plt.subplots(1, 4, figsize=(7.5, 2.3), layout="constrained")
for ax, (name, picture) in zip(axes, pictures.items(), strict=True):
    ax.imshow(np.asarray(picture.cpu()).reshape(64, 64), cmap="gray", vmin=0, vmax=1)
    ax.set_title(name, fontsize=10)
    ax.set_axis_off()
