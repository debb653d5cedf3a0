"""Whether the kernel that has simulated time is here, for tests that need it."""

from __future__ import annotations

import os
import shutil

import pytest

from forebay.linux.machine import image

TOOLS = all(map(shutil.which, ("ip", "ethtool")))
VIRTIO = "CONFIG_VIRTIO_NET=y"


def has_kernel() -> bool:
    """Returns True if the kernel is here, and built with the device."""
    config = image().with_suffix(".config")
    return TOOLS and os.access(image(), os.X_OK) and VIRTIO in config.read_text("utf-8").split()


needs_kernel = pytest.mark.skipif(
    not has_kernel(),
    reason="validation/linux/install.sh and validation/linux/kernel.sh have not been run here",
)
