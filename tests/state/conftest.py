"""The odd meshes of the tests of edits serve here as well."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "mesh"))
