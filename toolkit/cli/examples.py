"""Two command lines for the help of every command; an operation declares its own."""

EXAMPLES: dict[str, tuple[str, str]] = {
    "demo": ("dbatk demo", "dbatk demo --out /tmp/dbatk-demo"),
    "run": ("dbatk run degrees.toml --dry-run", "dbatk run nightly.toml --approved-only --quiet-when-ok"),
    "export": (
        "dbatk export degrees.toml --out bundle --assume 19-ee",
        "dbatk export degrees.toml --out bundle -t orcl",
    ),
    "ingest": ("dbatk ingest bundle", "dbatk ingest bundle --json"),
    "report": ("dbatk report last --out report.html", "dbatk report --all --out site"),
    "compare": (
        "dbatk compare before after --fail-if 'elapsed_seconds > +5%'",
        "dbatk compare weekly~1 weekly --out week.html",
    ),
    "doctor": ("dbatk doctor -t orcl", "dbatk doctor -t orcl --operation ctas --source SALES --grants"),
    "noise": ("dbatk noise -t orcl", "dbatk noise -t orcl --measure degrees.toml"),
    "clean": ("dbatk clean -t orcl", "dbatk clean -t orcl --run 20260103-0215"),
    "error": ("dbatk error ORA-01652", "dbatk error TK-0104"),
    "runs list": ("dbatk runs list", "dbatk runs list --limit 200 --json"),
    "runs show": ("dbatk runs show last", "dbatk runs show 20260103-0215 --follow"),
    "runs resume": ("dbatk runs resume last", "dbatk runs resume 20260103-0215 --retry-failed"),
    "runs delete": ("dbatk runs delete 20260103-0215", "dbatk runs delete trial-of-monday --yes"),
    "runs export": ("dbatk runs export last --out run.json", "dbatk runs export before --out before.json"),
    "target add": (
        "dbatk target add orcl oracle://dba@db1:1521/sales --wallet ~/wallet",
        "dbatk target add crm postgresql://dba@db2/crm --password-env CRM_PW",
    ),
    "target list": ("dbatk target list", "dbatk target list --json"),
    "target test": ("dbatk target test orcl", "dbatk target test postgresql://dba@db2/crm"),
    "target remove": ("dbatk target remove orcl", "dbatk target remove orcl --json"),
    "awr show": ("dbatk awr show awrrpt_1_101_102.html", "dbatk awr show reports/*.html --json"),
    "awr trend": ("dbatk awr trend reports/", "dbatk awr trend orcl:101-140 --out trend.html"),
    "awr fetch": (
        "dbatk awr fetch 101-104 -t orcl --out monday.html",
        "dbatk awr fetch 101-104 -t orcl --diff 125-128 --out before-after.html",
    ),
    "backup read": ("dbatk backup read rman.log", "dbatk backup read logs/*.log --out lanes.html"),
    "snapshot take": ("dbatk snapshot take before -t orcl", "dbatk snapshot take after -t crm --watch 10m"),
    "snapshot list": ("dbatk snapshot list", "dbatk snapshot list --limit 5"),
    "plan show": ("dbatk plan show nightly.toml", "dbatk plan show nightly.toml --json"),
    "plan approve": (
        "dbatk plan approve nightly.toml --reason CHG-4711",
        "dbatk plan approve nightly.toml --valid-until 2026-12-31",
    ),
    "plan revoke": ("dbatk plan revoke nightly.toml", "dbatk plan revoke nightly.toml --reason CHG-4712"),
    "plan report": ("dbatk plan report", "dbatk plan report last --out night.html --format html"),
    "plan history": ("dbatk plan history stats", "dbatk plan history stats --plan nightly.toml"),
    "plan schedule add": (
        "dbatk plan schedule add nightly.toml --kind systemd",
        "dbatk plan schedule add nightly.toml --install --approved-only",
    ),
    "plan schedule list": ("dbatk plan schedule list", "dbatk plan schedule list --json"),
    "plan schedule remove": (
        "dbatk plan schedule remove nightly",
        "dbatk plan schedule remove nightly --kind cron",
    ),
    "plan notify test": ("dbatk plan notify test", "dbatk plan notify test --json"),
    "plan notify digest": ("dbatk plan notify digest", "dbatk plan notify digest --since 7d"),
    "audit list": ("dbatk audit list", "dbatk audit list --limit 5"),
    "audit verify": ("dbatk audit verify", "dbatk audit verify --earlier audit-2025.log"),
}
"""By the words of the command."""
