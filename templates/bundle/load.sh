#!/bin/sh
# Loads one data file by SQL*Loader: a script of this bundle calls it, in the environment of run.sh (`HOST` of SQL*Plus).
# What SQL*Loader writes goes to spool/: the log, rejected rows (.bad), rows without any value (.dsc).
#
#   load.sh HEAD ITEM MOST again|once
#
#   HEAD   opens the lines that are read later: DBATK|run|trial|session
#   MOST   rows that may be rejected
#   once   the table is the user's own: what was loaded is not loaded again
#
# SQL*Loader reads the password from its standard input; run.sh gives it through spool/word-SESSION, a pipe.
set +x
set +a
set -u
umask 077
head=$1 item=$2 most=$3 often=$4
session=${head##*|} trial=${head%|*}
trial=$(printf 't%04d' "${trial##*|}")
control=sql/$trial-i$item.ctl base=spool/${DBATK_ATTEMPT}-i$item once=spool/$trial-i$item
file=$(sed -n "s/^INFILE '\(.*\)'\$/\1/p" "$control")

# a command would show the password in the list of processes (see run.sh)
case $(command -v printf) in
  printf) line() { printf '%s\n' "$1"; } ;;
  *) line() { print -r -- "$1"; } ;;
esac

# told CODE SENTENCE: say what SQL*Loader cannot say
told() { printf '%s|told|%s|%s\n' "$head" "$1" "$2"; }

# ended STATUS: say how it ended
ended() {
  printf '%s|loaded|%s|%s|%s\n' "$head" "$item" "$1" "${size:-0}"
  exit 0
}

if [ "$often" = once ]; then
  if [ -f "$once.loaded" ]; then
    cp "$once.loaded" "$base.log"
    ended 0
  fi
  if [ -f "$once.begun" ]; then
    told TK-0209 "it is not known whether $file was loaded, since $(cat "$once.begun") did not end well: see its log and the table; then remove $once.begun, or rename it to $once.loaded"
    ended unknown
  fi
fi
if [ ! -f "$file" ] || [ ! -r "$file" ]; then
  told TK-0106 "$file cannot be read where the bundle runs, or is no file"
  ended 3
fi
size=$(wc -c <"$file" | tr -d ' ')
[ "$often" = again ] || echo "${DBATK_ATTEMPT}" >"$once.begun" || { told TK-0405 "spool cannot be written"; ended 3; }
set -- "USERID=$DBATK_CONNECT" "CONTROL=$control" "LOG=$base.log" "BAD=$base.bad" "DISCARD=$base.dsc"
case $DBATK_CONNECT in
  /*) "$DBATK_SQLLDR" "$@" </dev/null >"$base.out" 2>&1 & ;;
  *)
    IFS= read -r password <"spool/word-$session"
    line "$password" | "$DBATK_SQLLDR" "$@" >"$base.out" 2>&1 &
    password='' ;;
esac
echo $! >"spool/load-$session.pid"
wait $!
status=$?
rm -f "spool/load-$session.pid"
rejected=$(sed -n 's/^Total logical records rejected: *//p' "$base.log" 2>/dev/null | tail -n 1)
errors() { cat "$base.log" "$base.out" 2>/dev/null | grep -E '^(ORA|SQL\*Loader)-[0-9]+' | awk '!seen[$0]++' | head -n "$1"; }
if [ "${rejected:-0}" -gt "$most" ]; then
  told TK-0213 "bad rows of $file: $rejected, more than $most (--max-rejects); first: $(errors 1)"
  ended "$status"
fi
# 2 is a warning: some rows were rejected, or the load was discontinued (Database Utilities, exit codes)
if [ "$status" -eq 2 ] && { [ -z "$rejected" ] || grep -E 'discontinued|SQL\*Loader-(605|2026):' "$base.log" >/dev/null; }; then
  status=1
fi
if [ "$status" -ne 0 ] && [ "$status" -ne 2 ]; then
  # it never got into the database (a wrong password, or one that nobody gives any more): nothing was loaded
  if [ "$often" = once ] && cat "$base.log" "$base.out" 2>/dev/null | grep '^SQL\*Loader-704: Internal error: ulconnect: ' >/dev/null; then
    rm -f "$once.begun"
  fi
  if [ -n "$(errors 1)" ]; then errors 5
  else told TK-0203 "SQL*Loader ended with exit status $status and names no error; see $base.out"
  fi
  ended "$status"
fi
if [ "$often" = once ]; then
  cp "$base.log" "$once.loaded" && rm -f "$once.begun"
fi
ended "$status"
