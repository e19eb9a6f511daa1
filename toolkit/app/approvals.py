"""What must be allowed before anything is changed: production, commands of this host, the highest degree."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields

from toolkit.config.approving import approval_key, signer
from toolkit.config.licences import Licence
from toolkit.errors import ToolkitError
from toolkit.model.audit import Value
from toolkit.model.engines import engine as declared_engine
from toolkit.model.experiment import Experiment
from toolkit.model.operations import declaration, degree_factor
from toolkit.model.words import EngineName, Mode
from toolkit.store.seals import Seal
from toolkit.targets.base import Target


@dataclass(frozen=True, slots=True)
class Approvals:
    """What the user allowed; `ask` puts a question to a terminal (None: there is none)."""

    not_production: bool = False
    yes_production: tuple[str, ...] = ()
    allow_commands: bool = False
    ask: Callable[[str], bool] | None = None
    unseen_ok: bool = False
    """Whether statements may be sent of which nobody can see what licences they need."""
    approval: str | None = None
    """Hash of the approval that what runs was checked against; nothing runs then that cannot be logged."""
    approval_text: str | None = None
    """The approval itself, for workers on other hosts, which hold themselves against it."""
    approved_for: tuple[str, ...] = ()
    """What the approval names, its targets and consents: who approved work there meant it, production or not."""

    def consents(self, *, anytime: bool = False) -> dict[str, Value]:
        """Return what the user consented to by options, as an approval holds it."""
        given: dict[str, Value] = {
            "anytime": anytime,
            "allow_commands": self.allow_commands,
            "not_production": self.not_production,
            "unseen_ok": self.unseen_ok,
            "yes_production": self.yes_production,
        }
        return {name: value for name, value in given.items() if value}


def allowed_by(approvals: Approvals) -> dict[str, str | bool | tuple[str, ...]]:
    """Return what a user approved as plain values; nobody can be asked on another host."""
    allowed = {each.name: getattr(approvals, each.name) for each in fields(approvals)}
    return {name: value for name, value in allowed.items() if isinstance(value, str | bool | tuple)}


@dataclass(frozen=True, slots=True)
class TargetPolicy:
    """What is known of the target: from its profile, or nothing when it was given by URL."""

    production: bool | None = None
    profile_name: str | None = None
    max_degree: int | None = None
    licences: frozenset[str] = frozenset()
    """Licences that the profile declares and that hold today (`diagnostics_pack`, `advanced_compression` ...)."""
    declarations: Mapping[str, Licence] = field(default_factory=dict)
    """Who declared them, when, until when; those that have ended too."""
    approved_only: bool = False
    """Only what was approved may run here."""
    unseen_ok: bool = False
    """Whether what no licence check can see may be sent, for this run."""
    standbys: bool | None = None
    """Whether standby databases follow the target, where its profile says so."""
    restart: tuple[str, ...] = ()
    """The command that starts the server again, where its profile allows that."""
    sysdba: tuple[str, ...] = ()
    """The client that connects as SYSDBA, also while the server is down, where its profile names one."""
    used: str | None = None
    """The profile or URL that was given."""
    by: Mapping[str, str] = field(default_factory=dict)
    """Which other profile of the same database a limit is by (`max_degree`, or the name of a licence)."""

    @property
    def names(self) -> frozenset[str]:
        """The profiles whose name confirms that production is meant."""
        return frozenset(name for name in (self.profile_name, self.by.get("production")) if name)


def check_production(
    engine: EngineName, policy: TargetPolicy, approvals: Approvals, names: frozenset[str]
) -> None:
    """Refuse a target that is production, or not known to be none.

    Args:
        engine: whose database is a file of our own (DuckDB) asks only where a profile says that it is production.
        policy: what the profile says; unknown is not "no".
        approvals: what the user allowed.
        names: the profile's name and the database's own, either of which confirms.

    Raises:
        ToolkitError: TK-0301.
    """
    refused = production_refused(engine, policy, approvals, names)
    if refused is None:
        return
    if approvals.ask is not None:
        what = f"is a production database{_says(policy)}" if policy.production else "may be a production database"
        if approvals.ask(f"{_shown(policy, names)[1]} {what}. Run this on it?"):
            return
        raise ToolkitError("not approved", code="TK-0301", hint="nothing was changed")
    raise refused


def _shown(policy: TargetPolicy, names: frozenset[str]) -> tuple[str, str]:
    """Return the name that confirms a target, and how it is called: by its profile and the database's own name.

    The user typed that of the profile; the other one shows where the profile leads.
    """
    if policy.profile_name is None:
        name = min(names, default="NAME")
        return name, f"`{name}`"
    known = {name.lower() for name in policy.names}
    own = min((name for name in names if name.lower() not in known), default=None)
    return policy.profile_name, f"`{policy.profile_name}`" + (f" (database `{own}`)" if own else "")


def _says(policy: TargetPolicy) -> str:
    """Name the profile that says it, where it is another one of the same database."""
    return f", says profile `{policy.by['production']}`" if "production" in policy.by else ""


def production_refused(
    engine: EngineName, policy: TargetPolicy, approvals: Approvals, names: frozenset[str]
) -> ToolkitError | None:
    """Return why work on a target is refused where nobody can be asked; None where it is not.

    Args:
        engine: whose database is a file of our own (DuckDB) asks only where a profile says that it is production.
        policy: what the profile says; unknown is not "no".
        approvals: what the user allowed.
        names: the profile's name and the database's own, either of which confirms.
    """
    if policy.production is False or _confirmed(approvals, policy, names):
        return None
    if policy.production is None and (approvals.not_production or declared_engine(engine).embedded):
        return None
    confirms, shown = _shown(policy, names)
    if policy.production:
        return ToolkitError(
            f"{shown} is a production database{_says(policy)}",
            code="TK-0301",
            hint=f"use --allow-production {confirms} if that is intended{_several(approvals)}",
        )
    return ToolkitError(
        f"it is not known whether {shown} is production",
        code="TK-0301",
        hint=f"use --not-production or --allow-production {confirms}, or set `production = false` in its profile",
    )


def _several(approvals: Approvals) -> str:
    """Say how several are allowed, where they were given as a list or a pattern."""
    listed = [name for name in approvals.yes_production if set(name) & set(",*?")]
    return f" (`{listed[0]}` names none: give the option once for each)" if listed else ""


def exposed(target: Target, policy: TargetPolicy, approvals: Approvals) -> tuple[str, ...]:
    """Return what is at stake on the way to a target that is production, or not known to be none."""
    spared = policy.production is False or (policy.production is None and approvals.not_production)
    found = None if spared else target.exposure
    return () if found is None else (found.sentence,)


def _confirmed(approvals: Approvals, policy: TargetPolicy, names: frozenset[str]) -> bool:
    if policy.used is not None and policy.used in approvals.approved_for:
        return True
    meant = {name.lower() for name in (*approvals.yes_production, *approvals.approved_for)}
    return not meant.isdisjoint(name.lower() for name in names)


def check_experiment(experiment: Experiment, policy: TargetPolicy, approvals: Approvals) -> None:
    """Refuse what the user must allow or the profile forbids.

    Raises:
        ToolkitError: TK-0309 for commands, TK-0304 for a degree above the profile's `max_degree`, TK-0301 for a
            sweep of live statistics on production.
    """
    _check_live_statistics(experiment, policy, approvals)
    check_cold_cache(experiment, policy, approvals)
    if declaration(experiment.operation).runs_programs and not approvals.allow_commands:
        raise ToolkitError(
            f"`{experiment.operation}` runs programs on this host", code="TK-0309", hint="--allow-commands"
        )
    names = [factor.name for factor in experiment.factors]
    for factor in experiment.factors:
        if factor.command is not None and factor.command.runs_commands and not approvals.allow_commands:
            raise ToolkitError(
                f"factor `{factor.name}` runs commands on this host", code="TK-0309", hint="--allow-commands"
            )
        if factor.name == degree_factor(experiment.operation, names) and policy.max_degree is not None:
            high = max((level for level in factor.levels if isinstance(level, int)), default=0)
            if high > policy.max_degree:
                raise ToolkitError(
                    f"{factor.name} {high} is above the max_degree {policy.max_degree} of profile "
                    f"`{policy.by.get('max_degree', policy.profile_name)}`",
                    code="TK-0304",
                    hint=f"sweep up to {policy.max_degree}, or raise max_degree in the profile",
                )


def on_live(experiment: Experiment) -> bool:
    """Tell whether a measurement works on objects of the user's."""
    return experiment.mode is Mode.MEASUREMENT and bool(experiment.options.get("on_live_objects"))


def _check_live_statistics(experiment: Experiment, policy: TargetPolicy, approvals: Approvals) -> None:
    """Refuse to measure on live statistics of production, whatever was approved: plans must not move there."""
    if not declaration(experiment.operation).publishes_statistics or not on_live(experiment):
        return
    unknown = policy.production is None and bool(approvals.approved_for) and not approvals.not_production
    if policy.production or approvals.yes_production or unknown:
        raise ToolkitError(
            "measurements never use live statistics of a production target, even with approval",
            code="TK-0301",
            hint="omit --on-live-objects to measure on copies, or measure on a clone",
        )


def check_cold_cache(experiment: Experiment, policy: TargetPolicy, approvals: Approvals) -> None:
    """Refuse to empty a cache that others use, unless the target was declared not to be production.

    Raises:
        ToolkitError: TK-0301.
    """
    cold = any(factor.name == "cache" and "cold" in factor.levels for factor in experiment.factors)
    declared = policy.production is False or (policy.production is None and approvals.not_production)
    if (cold or experiment.options.get("cache") == "cold") and (not declared or approvals.yes_production):
        raise ToolkitError(
            "`--cache cold` empties the buffer cache for everybody, so it needs a target that is declared not to "
            "be production",
            code="TK-0301",
            hint="set `production = false` in its profile or use --not-production, or measure with --cache warm",
        )


def check_approved(policy: TargetPolicy, approvals: Approvals) -> None:
    """Refuse what nobody approved on a target whose profile asks for it.

    Raises:
        ToolkitError: TK-0313.
    """
    if policy.approved_only and approvals.approval is None:
        raise not_approved(policy)


def seal_for(*, approved: bool) -> Seal | None:
    """Return what seals the journal of approved work; None where nothing is approved, or approvals are not signed.

    Raises:
        ToolkitError: TK-0201 when the key cannot be had, TK-0102 when it is too short to be one.
    """
    key = approval_key() if approved else None
    if key is None:
        return None
    sign = signer(key)
    return lambda text: sign(f"journal of dbatk: {text}")  # no approval can be taken for one, nor the other way


def not_approved(policy: TargetPolicy, why: str = "") -> ToolkitError:
    """Return the error of work that nobody approved on a target whose profile asks for it, and what of it runs."""
    sentence = f"only approved work may run on `{policy.by.get('approved_only', policy.profile_name)}`"
    return ToolkitError(
        f"{sentence}; {why}" if why else sentence,
        code="TK-0313",
        hint="write a file (`--save-as FILE`), let `dbatk plan approve FILE` approve it, "
        "then `dbatk run FILE --approved-only`; a run of it goes on by `dbatk runs resume RUN --approved FILE`",
    )
