#!/bin/sh
# Lets expdp or impdp do a job of Data Pump: a script of this bundle calls it, in the environment of run.sh (`HOST` of
# SQL*Plus). What the program writes goes to spool/.
#
#   datapump.sh HEAD ITEM expdp|impdp
#
#   HEAD   opens the lines that are read later: DBATK|run|trial|session
#
# The program asks for a password on its standard input; run.sh gives it through spool/word-SESSION, a pipe. The job is
# the server's: it goes on without the program, and the script that puts back ends it.
set +x
set +a
set -u
umask 077
head=$1 item=$2 name=$3
session=${head##*|} trial=${head%|*}
trial=$(printf 't%04d' "${trial##*|}")
out=spool/${DBATK_ATTEMPT}-i$item-$name.log
case $name in expdp) program=$DBATK_EXPDP ;; *) program=$DBATK_IMPDP ;; esac

# a command would show the password in the list of processes (see run.sh)
case $(command -v printf) in
  printf) line() { printf '%s\n' "$1"; } ;;
  *) line() { print -r -- "$1"; } ;;
esac

set -- "$DBATK_CONNECT" "PARFILE=sql/$trial-i$item.par"
case $DBATK_CONNECT in
  /*) "$program" "$@" </dev/null >"$out" 2>&1 & ;;
  *)
    IFS= read -r password <"spool/word-$session"
    line "$password" | "$program" "$@" >"$out" 2>&1 &
    password='' ;;
esac
echo $! >"spool/load-$session.pid"
wait $!
status=$?
rm -f "spool/load-$session.pid"
# 5 is a job that completed with errors: its log, which is read afterwards, says with which
if [ "$status" -ne 0 ] && [ "$status" -ne 5 ]; then
  errors=$(grep -oE '(ORA|UDE|UDI|LRM|TNS)-[0-9]{5}: .*' "$out" | awk '!seen[$0]++' | head -n 5)
  if [ -n "$errors" ]; then line "$errors"
  else printf '%s|told|TK-0203|%s\n' "$head" "$name ended with exit status $status and names no error; see $out"
  fi
fi
printf '%s|ran|%s|%s\n' "$head" "$item" "$status"
exit 0
