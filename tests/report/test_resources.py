from __future__ import annotations

from pathlib import Path

import pytest

from toolkit import resources


def test_templates_and_scripts_are_found_beside_the_package() -> None:
    assert (resources.template_root() / "report" / "page.html.j2").is_file()
    assert resources.sql_root().name == "sql"
    assert "<!doctype html>" in resources.template_text("report/frame.html.j2")


def test_an_installed_package_brings_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "site" / "toolkit"
    for folder in (inside / "_data" / "sql", inside / "_data" / "templates" / "report", tmp_path / "site" / "sql"):
        folder.mkdir(parents=True)
    monkeypatch.setattr(resources, "_PACKAGE", inside)
    assert resources.sql_root() == inside / "_data" / "sql"
    assert resources.template_root() == inside / "_data" / "templates"


def test_a_name_cannot_lead_out_of_the_templates() -> None:
    with pytest.raises(ValueError, match="outside"):
        resources.template_text("../pyproject.toml")
