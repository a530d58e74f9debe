"""Checks of PJRT plugins and of the NVIDIA cards that they drive."""

from __future__ import annotations

from collections.abc import Iterator

from habana_frameworks.tensorflow import flags
from habana_frameworks.tensorflow._internal import pjrt_plugins
from habana_frameworks.tensorflow.cli.checks.finding import Finding
from habana_frameworks.tensorflow.cli.checks.pjrt import cards, device_files, driver, libraries, plugin


def check() -> Iterator[Finding]:
    """Checks the plugin that HPU_BACKEND selects, with its driver, libraries and cards.

    For other backends, lists the installed plugins and the cards.
    """
    name = pjrt_plugins.selected(flags.backend())
    if name is None:
        yield from plugin.list_installed()
        yield from cards.list_present()
        return
    file = pjrt_plugins.find(name)
    yield from plugin.check(name, file)
    # Compiling for an absent card (HPU_PJRT_TARGET) requires neither driver nor CUDA.
    if not pjrt_plugins.drives_nvidia_cards(name) or flags.pjrt_target():
        return
    yield from driver.check(file.cuda if file else None)
    yield from device_files.check()
    yield from cards.check()
    if file:
        yield from libraries.check(file)
