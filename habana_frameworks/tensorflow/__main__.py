"""`python -m habana_frameworks.tensorflow` is the command `hpu`."""

import sys

from habana_frameworks.tensorflow.cli import main

sys.exit(main())
