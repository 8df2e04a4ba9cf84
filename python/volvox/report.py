"""The results of a run."""

from __future__ import annotations

import json
import os
from typing import Any, Iterator, Mapping, Union

import numpy as np
import numpy.typing as npt

from ._files import replace_file
from .recording import Show

__all__ = ["Report"]


class Report(Mapping[str, Any]):
    """What `volvox run --json` prints, as a mapping: report["state_hash"], report.metrics["distance_m"]."""

    def __init__(self, text: str, history: Mapping[str, list[float]], page: str) -> None:
        self._values: dict[str, Any] = json.loads(text)
        self._history = history
        self.page: str = page
        """The same for human readers, with plots over time: report.html of `volvox run`, one file that loads nothing."""

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Report({json.dumps(self._values, indent=2)})"

    def _repr_html_(self) -> str:
        return self.show()._repr_html_()

    def show(self, height: int = 450) -> Show:
        """For Jupyter: the metrics and the plots, so high in pixels."""
        return Show(self.page, height, f"report of {self['experiment']}")

    def save_page(self, file: Union[str, os.PathLike[str]]) -> None:
        """Writes `page` as a file, completely or not at all."""
        replace_file(file, self.page.encode())

    @property
    def metrics(self) -> dict[str, float]:
        """The measurements by name, with their unit in the name. NaN: it could not be measured."""
        return {name: float("nan") if value is None else value for name, value in self._values["metrics"].items()}

    @property
    def history(self) -> dict[str, npt.NDArray[np.float64]]:
        """Samples from the start to the end: time_s, centre_x_m, centre_y_m, centre_z_m, kinetic_energy_J, lift_m,
        organisms, connections."""
        return {name: np.array(column, dtype=np.float64) for name, column in self._history.items()}

    def frame(self) -> Any:
        """The history as a pandas.DataFrame, with time_s as its index. Needs pandas."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("Report.frame() needs pandas: pip install volvox[tables], or use Report.history") from error
        return pandas.DataFrame(self.history).set_index("time_s")
