"""Users at work: how many a database takes, and how long they wait."""

from toolkit.model.operations import JudgedBy, Levels, OperationDeclaration, Options
from toolkit.model.options import Option, OptionKind, Topic
from toolkit.operations import options as shared
from toolkit.operations.hosts import options_of


def _check(options: Options, levels: Levels) -> None:
    from toolkit.operations.workload.checks import check

    check(options, levels)


DECLARATION = OperationDeclaration(
    name="workload",
    command=("workload",),
    help="Let users work on the database, and measure throughput and latency.",
    options=(
        Option("builtin", OptionKind.CHOICE,
               "built-in transactions, on tables of their own: tpcb as in pgbench, or a small "
               "shop", choices=("tpcb", "order_entry")),
        Option("transactions", OptionKind.TRANSACTIONS,
               "your own: a TOML file with the SQL, weight and parameters of each"),
        Option("users", OptionKind.INTEGER, "users at work at once, each with a session: 8 (default 1); "
                                            "to compare: 1,2,4,8",
               factor=True, low=1, high=10_000, unit="users"),
        Option("scale", OptionKind.INTEGER,
               "size of the built-in tables (default 1): for each, 100,000 accounts of tpcb or 30,000 "
               "orders of order_entry", factor=True, low=1, high=20_000),
        Option("weights", OptionKind.TEXT,
               "how often each transaction is chosen, in their order: 45:43:6:6; to compare: "
               "45:43:6:6,10:80:5:5", factor=True),
        Option("measure_for", OptionKind.DURATION, "how long each trial is measured (default 30s)",
               topic=Topic.MEASUREMENT),
        Option("ramp_up", OptionKind.NUMBER, "seconds in which the users begin, before that time (default 5)",
               low=0, high=86_400, unit="s", topic=Topic.MEASUREMENT),
        Option("ramp_down", OptionKind.NUMBER, "seconds for which the users go on after it (default 0)",
               low=0, high=86_400, unit="s", topic=Topic.MEASUREMENT),
        Option("think_time", OptionKind.NUMBER, "seconds between two transactions of a user, on average "
                                                "(default 0)",
               factor=True, low=0, high=3600, unit="s"),
        Option("rate", OptionKind.NUMBER,
               "transactions per second to begin, however long others take (default: a user's next one begins "
               "when the last one ended)", factor=True, low=0.001, high=1_000_000, unit="1/s"),
        Option("loop", OptionKind.CHOICE,
               "what begins a user's next transaction: the client (default), or a loop in the server, called once "
               "for many", choices=("client", "server"), factor=True, engines=shared.NOT_DUCKDB,
               elsewhere="here the database is in the process of its users"),
        Option("tries", OptionKind.INTEGER,
               "how often a transaction is tried that ends in a deadlock or serialization failure (default 10)",
               low=1, high=1000),
        Option("isolation", OptionKind.CHOICE, "isolation level of the users' sessions", factor=True,
               engines=shared.NOT_DUCKDB, choices=("read_committed", "repeatable_read", "serializable")),
        Option("may_change_data", OptionKind.FLAG,
               "let your own transactions change data, which stays changed: nothing is put back",
               topic=Topic.SAFETY),
        *options_of("users live"),
        *shared.SERVER_LOG,
    ),
    examples=(
        "dbatk workload -t crm --builtin tpcb --scale 10 --users 1,2,4,8",
        "dbatk workload -t crm --transactions shop.toml --users 20 --rate 100,200",
    ),
    planned_by="toolkit.operations.workload.plan",
    required=(("builtin", "transactions"),),
    excludes=(("transactions", "scale", "your own transactions have no tables that dbatk would make"),),
    common=("scale", "measure_for"),
    degree="users",
    judged_by=JudgedBy("tps", "1/s", lower_is_better=False, title="throughput"),
    check=_check,
    keeps=False,
    cookbook="how-many-users.md",
    order=8,
)  # fmt: skip
