"""Runs a SavedModel with each batch size, for `hpu warmup`, and lists the sizes in the model's folder.

hpu warmup --path recipes examples/inference/warm_up.py models/digits --batch-sizes 1 8 32
"""

from __future__ import annotations

import argparse
import pathlib

from habana_frameworks.tensorflow import load_habana_module
from served_model import ServedModel


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=pathlib.Path, help="folder with a folder for each version of the model")
    parser.add_argument("--batch-sizes", type=int, nargs="+", required=True, metavar="N")
    arguments = parser.parse_args()
    load_habana_module()
    model = ServedModel(arguments.model)
    model.warm_up(arguments.batch_sizes)
    model.list_batch_sizes(arguments.batch_sizes)


if __name__ == "__main__":
    main()
