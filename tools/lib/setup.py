# SPDX-License-Identifier: GPL-2.0
"""What pyproject.toml cannot say: the release's number, and the schema that lies in docs/."""
from __future__ import annotations

import json
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
SCHEMA = HERE.parents[1] / "docs" / "record.schema.json"


class WithSchema(build_py):
    """The packages, and beside them what a record is checked against."""

    def run(self) -> None:
        """Build them."""
        super().run()
        shutil.copyfile(SCHEMA, Path(self.build_lib) / "copyscope" / SCHEMA.name)


setup(version=json.loads((HERE / "copyscope/common/tables.json").read_text())["release"],
      cmdclass={"build_py": WithSchema})
