#!/bin/sh
# Runs a bundle of dbatk: each trial of PLAN in SQL*Plus or SQLcl, in its order; what they print goes to spool/.
# A trial that came to its end is not run again, so run.sh goes on where it was stopped; of a job that loads files, those
# that are not loaded are tried again. Only POSIX tools.
#
#   ./run.sh [-y] [-p FD] [-r there|missing] USER@ALIAS | USER | /@ALIAS | /
#
#   -y       do not ask before the first trial
#   -p FD    read the password from this file descriptor: ./run.sh -p 3 scott@dwh 3< FILE
#   -r WORD  of a job that changes rows of yours and broke off: its work is "there", or "missing" and done again
#   SQLPLUS  full path of the client; else $ORACLE_HOME/bin/sqlplus, sqlplus or sql is taken
#   SQLLDR   full path of SQL*Loader where the bundle loads files; else $ORACLE_HOME/bin/sqlldr or sqlldr is taken
#   EXPDP, IMPDP  of the client of Data Pump where the bundle calls it, likewise
#
# Exit status: 0 all trials succeeded, 1 failed, 2 wrong usage, 3 some trial failed or did not come to its end, or
# something was left as it is, 5 refused, 130 interrupted. The password goes to the client's standard input and nowhere else.
set +x
set +a
set -u
umask 077
unset password CDPATH SQLPATH ORACLE_PATH ORA_SDTZ NLS_DATE_FORMAT NLS_TIMESTAMP_FORMAT NLS_TIMESTAMP_TZ_FORMAT
unset NLS_SORT NLS_COMP NLS_LENGTH_SEMANTICS NLS_NUMERIC_CHARACTERS NLS_TERRITORY NLS_LANGUAGE NLS_CALENDAR
NLS_LANG=AMERICAN_AMERICA.AL32UTF8
export NLS_LANG

say() { echo "run.sh: $*" >&2; }
stop() { status=$1; shift; say "$*"; leave "$status"; }
leave() { stop_feeding; [ -z "${locked:-}" ] || rm -rf spool/lock; exit "$1"; }
stop_feeding() {
  for each in $feeders; do kill "$each" && wait "$each"; done 2>/dev/null
  feeders=''
  [ -z "${locked:-}" ] || rm -f spool/word-*
}
usage() { stop 2 "usage: ./run.sh [-y] [-p FD] [-r there|missing] USER@ALIAS | USER | /@ALIAS | /"; }

password='' fd='' rows='' agreed='' connect='' locked='' current='' children='' feeders='' began=$PWD
while [ $# -gt 0 ]; do
  case $1 in
    -y) agreed=yes ;;
    -p) [ $# -gt 1 ] || usage; shift; fd=$1 ;;
    -r) [ $# -gt 1 ] || usage; shift; rows=$1 ;;
    -*) usage ;;
    *) [ -z "$connect" ] || usage; connect=$1 ;;
  esac
  shift
done
case $fd in ''|[0-9]) ;; *) usage ;; esac
case $rows in ''|there|missing) ;; *) usage ;; esac
[ -n "$connect" ] || usage
case $connect in
  *[!]A-Za-z0-9_@/.:\$\#[?=\&\;+~,\(\)-]*) stop 2 "this connect string holds a character that is not taken" ;;
esac
case ${connect%%@*} in
  '') usage ;;
  /) ;;
  */*) stop 2 "no password may stand in an argument, where everybody sees it: omit it, it is asked" ;;
esac

cd "$(dirname "$0")" || stop 2 "the folder of run.sh cannot be entered"
for needed in PLAN MANIFEST.json SHA256SUMS undo.sql sql/check.sql; do
  [ -f "$needed" ] || stop 2 "$needed is missing: this is no whole bundle"
done
run=$(sed -n 's/^run //p' PLAN)
[ -n "$run" ] || stop 2 "PLAN names no run: this is no whole bundle"

# -- what must be there ------------------------------------------------------------------------------------------
check_sums() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum -c SHA256SUMS >/dev/null 2>&1
  elif command -v shasum >/dev/null 2>&1; then shasum -a 256 -c SHA256SUMS >/dev/null 2>&1
  else return 0
  fi || stop 2 "a file of the bundle was altered (SHA256SUMS): what it measures could not be taken; export it anew"
}

find_client() {
  if [ -n "${SQLPLUS:-}" ]; then
    case $SQLPLUS in
      /*) client=$SQLPLUS ;;
      */*) client=$began/$SQLPLUS ;;
      *) client=$(command -v "$SQLPLUS") || stop 2 "SQLPLUS is \"$SQLPLUS\", and there is no such command" ;;
    esac
  elif [ -n "${ORACLE_HOME:-}" ] && [ -x "$ORACLE_HOME/bin/sqlplus" ]; then client=$ORACLE_HOME/bin/sqlplus
  elif client=$(command -v sqlplus); then :
  elif client=$(command -v sql); then :
  else stop 2 "neither sqlplus nor sql is here: set ORACLE_HOME, or SQLPLUS to the full path of one"
  fi
  [ -x "$client" ] || stop 2 "\"$client\" cannot be run: set SQLPLUS to the full path of sqlplus or sql"
  case $("$client" -V 2>/dev/null </dev/null) in
    *SQLcl*) kind=sqlcl ;;
    *SQL\*Plus*) kind=sqlplus ;;
    *) stop 2 "\"$client\" is neither SQL*Plus nor SQLcl: set SQLPLUS to the full path of one" ;;
  esac
}

find_loader() {
  [ -f load.sh ] || return 0
  if [ -n "${SQLLDR:-}" ]; then
    case $SQLLDR in
      /*) DBATK_SQLLDR=$SQLLDR ;;
      *) DBATK_SQLLDR=$began/$SQLLDR ;;
    esac
  elif [ -n "${ORACLE_HOME:-}" ] && [ -x "$ORACLE_HOME/bin/sqlldr" ]; then DBATK_SQLLDR=$ORACLE_HOME/bin/sqlldr
  elif DBATK_SQLLDR=$(command -v sqlldr); then :
  else stop 2 "sqlldr is not here: set ORACLE_HOME, or SQLLDR to its full path"
  fi
  [ -x "$DBATK_SQLLDR" ] || stop 2 "\"$DBATK_SQLLDR\" cannot be run: set SQLLDR to the full path of sqlldr"
  DBATK_CONNECT=$connect
  export DBATK_SQLLDR DBATK_CONNECT
}

find_data_pump() {
  [ -f datapump.sh ] || return 0
  for name in expdp impdp; do
    grep "HOST sh datapump.sh .* '$name' " sql/t*.sql >/dev/null 2>&1 || continue
    case $name in expdp) given=${EXPDP:-} ;; *) given=${IMPDP:-} ;; esac
    case $given in
      '')
        if [ -n "${ORACLE_HOME:-}" ] && [ -x "$ORACLE_HOME/bin/$name" ]; then given=$ORACLE_HOME/bin/$name
        else given=$(command -v "$name") || stop 2 "$name is not here: set ORACLE_HOME, or EXPDP or IMPDP to its full path"
        fi ;;
      /*) ;;
      *) given=$began/$given ;;
    esac
    [ -x "$given" ] || stop 2 "\"$given\" cannot be run: set EXPDP or IMPDP to the full path of $name"
    case $name in expdp) DBATK_EXPDP=$given ;; *) DBATK_IMPDP=$given ;; esac
  done
  DBATK_CONNECT=$connect
  export DBATK_EXPDP DBATK_IMPDP DBATK_CONNECT
}

# A builtin writes the lines that the client reads: a command would show them in the list of processes, and a
# here-document may be a file.
find_writer() {
  case $(command -v printf) in
    printf) line() { printf '%s\n' "$1"; } ;;
    *)
      case $(command -v print) in
        print) line() { print -r -- "$1"; } ;;
        *) stop 2 "this shell writes lines by a command, which would show a password: use another sh" ;;
      esac ;;
  esac
}

ask_password() {
  case ${connect%%@*} in /) return ;; esac
  if [ -n "$fd" ]; then
    IFS= read -r password <&"$fd" || [ -n "$password" ] || stop 2 "file descriptor $fd gives no password"
    eval "exec $fd<&-"
  elif [ -t 0 ]; then
    printf 'password of %s: ' "$connect" >&2
    saved=$(stty -g)
    trap 'stty "$saved"; echo >&2; leave 130' INT TERM HUP
    stty -echo
    IFS= read -r password
    stty "$saved"
    trap - INT TERM HUP
    echo >&2
  else
    stop 2 "no terminal is here to ask for the password: give it on a file descriptor, -p 3 ... 3< FILE"
  fi
  case $password in
    '') stop 2 "the password is empty" ;;
    *\"*) stop 2 "a password with a double quote cannot be given to the client" ;;
  esac
}

lock() {
  mkdir -p spool || stop 1 "spool cannot be made: is the disk full, or the folder read-only?"
  here=$(uname -n)
  if ! mkdir spool/lock 2>/dev/null; then
    held=$(cat spool/lock/holder 2>/dev/null)
    case $held in
      "$here "*) kill -0 "${held##* }" 2>/dev/null && stop 5 "another run.sh works on this bundle: process ${held##* }" ;;
      *) [ -z "$held" ] || stop 5 "another run.sh works on this bundle: ${held}; if it is gone, remove spool/lock" ;;
    esac
  fi
  locked=yes
  echo "$here $$" >spool/lock/holder || stop 1 "nothing can be written to spool: is the disk full?"
}

# -- sessions ----------------------------------------------------------------------------------------------------
login() {
  line "SET DEFINE OFF"
  if [ "$kind" = sqlcl ]; then
    line "SET SQLFORMAT DEFAULT"
    line "SET ENCODING UTF-8"
  fi
  case ${connect%%@*} in
    /) line "CONNECT $connect" ;;
    "$connect") line "CONNECT $connect/\"$password\"" ;;
    *) line "CONNECT ${connect%%@*}/\"$password\"@${connect#*@}" ;;
  esac
}

# feed SESSION: give the password to what calls another program (load.sh, datapump.sh), through a pipe; it is in no file
feed() {
  [ -f load.sh ] || [ -f datapump.sh ] || return 0
  case ${connect%%@*} in /) return 0 ;; esac
  rm -f "spool/word-$1"
  mkfifo "spool/word-$1" || return 1
  while [ -p "spool/word-$1" ] && kill -0 $$; do line "$password" >"spool/word-$1"; done 2>/dev/null 4<&- &
  feeders="$feeders $!"
}

# unfeed: let what a killed run.sh left waiting for a reader end
unfeed() {
  for each in spool/word-*; do
    if [ -p "$each" ]; then exec 5<>"$each"; rm -f "$each"; exec 5>&-; fi
  done
  rm -f spool/load-*.pid
}

# session SPOOL SCRIPT: one client that runs one script; its status is the result
session() {
  { login; line "@sql/$2.sql"; line EXIT; } 2>/dev/null 4<&- | "$client" -S /nolog >"spool/$1.lst" 2>&1 4<&- &
  children=$!
  wait "$children"
  set -- $?
  children=''
  return "$1"
}

told() { grep "^DBATK|$run|$1|[0-9]*|$2" "spool/$3.lst" >/dev/null 2>&1; }
first_error() { grep -E '^(ORA|SP2|TNS)-[0-9]+' "spool/$1.lst" 2>/dev/null | head -n 1; }

# look_left SPOOL WORDS: tell every error of a spool with these codes: what it speaks of stays as it is. An error that
# its script announced as one that may come, as of a parameter that this place does not let a session set, is none.
look_left() {
  [ -f "spool/$1.lst" ] || return 0
  grep -E "^($2)|^DBATK[|]$run[|].*[|]may-fail" "spool/$1.lst" >spool/left.txt || return 0
  may_fail=''
  while read -r each; do
    case $each in
      DBATK\|*\|may-fail) may_fail=''; continue ;;
      DBATK\|*) may_fail=${each##*|}; continue ;;
    esac
    case ,$may_fail, in *",${each%%:*},"*) continue ;; esac
    say "left as it is: $each"
    left=yes
  done <spool/left.txt
}

# note NUMBER SPOOL WORD: add a line of ours to a spool
note() { printf '\nDBATK|%s|%s|0|%s\n' "$run" "$1" "$3" >>"spool/$2.lst"; }

# together NAME NUMBER SESSIONS: one client a session, which begin together when all are ready
together() {
  session "$1-before" "$(script "$2")-before" || return $?
  told "$2" clock "$1-before" || return 1
  k=1 ready=yes result=0
  while [ "$k" -le "$3" ]; do
    rm -f "spool/gate-$k" "spool/ready-$k.txt"
    mkfifo "spool/gate-$k" || return 1
    member "$1-s$k" "$(script "$2")-s$k" "$k" 4<&- &
    children="$children $!"
    k=$((k + 1))
  done
  wait_ready "$3" "$children" || ready=no
  k=1
  while [ "$k" -le "$3" ]; do
    line "$ready" >"spool/gate-$k" &
    k=$((k + 1))
  done
  for child in $children; do
    wait "$child" || result=$?
  done
  stop_feeding
  wait
  children=''
  rm -f spool/gate-* spool/ready-*
  [ "$ready" = yes ] || return "$result"
  session "$1-after" "$(script "$2")-after"
}

member() {
  {
    login
    line "@sql/$2-begin.sql"
    line "SPOOL spool/ready-$3.txt"
    line "PROMPT ready"
    line "SPOOL OFF"
    read -r ready <"spool/gate-$3"
    [ "$ready" != yes ] || line "@sql/$2.sql"
    line EXIT
  } 2>/dev/null | "$client" -S /nolog >"spool/$1.lst" 2>&1
}

wait_ready() {
  while :; do
    k=1 missing=''
    for child in $2; do
      if ! grep ready "spool/ready-$k.txt" >/dev/null 2>&1; then
        missing=yes
        grep '^\(ORA\|SP2\)-' "spool/$name-s$k.lst" >/dev/null 2>&1 && sleep 1 && return 1
        kill -0 "$child" 2>/dev/null || return 1
      fi
      k=$((k + 1))
    done
    [ -n "$missing" ] || return 0
    sleep 1
  done
}

# -- trials ------------------------------------------------------------------------------------------------------
script() { printf 't%04d' "$1"; }

# attempts NUMBER: the last attempt of a trial there is a spool of, 0 without any
attempts() {
  last=0
  while ls "spool/$(script "$1")-a$((last + 1))"*.lst >/dev/null 2>&1; do last=$((last + 1)); done
  echo "$last"
}

# ended NUMBER ATTEMPT: whether an attempt came to its end, well or not
ended() {
  base=$(script "$1")-a$2
  for part in "$base" "$base-before" "$base-after"; do
    told "$1" settled "$part" && return 0
    told "$1" interrupted "$part" && return 1
  done
  for part in "$base" "$base-before" "$base-after"; do
    told "$1" end "$part" && return 0
    told "$1" failed "$part" && return 0
  done
  return 1
}

# unloaded NUMBER: whether a file that a job is to load once is not loaded; load.sh knows which, and loads none twice
unloaded() {
  for item in $(cat sql/"$(script "$1")".sql sql/"$(script "$1")"-s*.sql 2>/dev/null | sed -n "s/^HOST sh load.sh '[^']*' '\([0-9]*\)' '[0-9]*' 'once'.*/\1/p"); do
    [ -f "spool/$(script "$1")-i$item.loaded" ] || return 0
  done
  return 1
}

# count_failed NUMBER ATTEMPT WORDS: tell of an attempt that came to its end by an error: of its timed work, or before it
count_failed() {
  errors='^(ORA|SP2|TNS|SQL\*Loader)-[0-9]+|^DBATK[|].*[|]told[|]' base=$(script "$1")-a$2 error='' before=''
  for part in spool/"$base"*.lst; do
    [ -n "$error" ] || error=$(sed -n '/[|]stage[|]timed/,/[|]stage[|][^t]/p' "$part" | grep -E "$errors" | sed 's/^DBATK[|].*[|]told[|]//' | head -n 1)
    [ -n "$before" ] || before=$(grep -hE '^(ORA|SP2|TNS)-[0-9]+' "$part" | head -n 1)
  done
  for part in "$base" "$base-before" "$base-after"; do
    [ -n "$error" ] || ! told "$1" failed "$part" || error=$before
  done
  [ -n "$error" ] || return 0
  failed=$((failed + 1))
  say "trial $1 ${3:-failed}: $error"
}

# clean NUMBER ATTEMPT: put back what an attempt left
clean() {
  session "$(script "$1")-a$2-clean" "$(script "$1")-clean"
  look_left "$(script "$1")-a$2-clean" 'ORA-'
  told "$1" cleaned "$(script "$1")-a$2-clean"
}

# settle NUMBER ATTEMPT SESSIONS: whether an attempt that broke off may be run again; its COMMIT may have come through
settle() {
  grep '^# once' PLAN >/dev/null || return 0
  base=$(script "$1")-a$2 main=$base
  [ "$3" -eq 1 ] || main=$base-before
  word=$rows
  if [ -z "$word" ] && [ "$(grep -l "^DBATK|$run|$1|[0-9]*|stage|evidence" spool/"$base"*.lst 2>/dev/null | wc -l)" -ge "$3" ]; then
    # what comes after COMMIT was begun in each session, and nothing failed before it
    sed -n '/[|]stage[|]timed/,/[|]stage[|]evidence/p' spool/"$base"*.lst | grep -E '^(ORA|SP2|TNS)-[0-9]+' >/dev/null || word=there
  fi
  case $word in
    missing) return 0 ;;
    there) note "$1" "$main" settled; say "trial $1: its work is there, so it is not done again"; return 1 ;;
  esac
  stop 3 "trial $1 broke off, and whether its work was committed is not known: look at the table, then run this again with -r there, or -r missing to do it again"
}

trial() {
  number=$1 sessions=$2 title=$3
  attempt=$(attempts "$number")
  if [ "$attempt" -gt 0 ]; then
    if ! ended "$number" "$attempt"; then
      settle "$number" "$attempt" "$sessions" || return 0
      clean "$number" "$attempt" || stop 1 "what trial $number left cannot be put back: $(first_error "$(script "$number")-a$attempt-clean")"
    elif ! unloaded "$number"; then
      count_failed "$number" "$attempt"
      return 0
    fi
  fi
  attempt=$((attempt + 1))
  name=$(script "$number")-a$attempt main=$(script "$number")-a$attempt
  [ "$sessions" -eq 1 ] || main=$name-before
  say "trial $number: $title"
  DBATK_ATTEMPT=$name
  export DBATK_ATTEMPT
  k=1
  while [ "$k" -le "$sessions" ]; do feed "$k" || stop 1 "no pipe can be made in spool"; k=$((k + 1)); done
  : >"spool/$main.lst" || stop 1 "nothing can be written to spool: is the disk full?"
  current=$main
  if [ "$sessions" -eq 1 ]; then session "$name" "$(script "$number")"; else together "$name" "$number" "$sessions"; fi
  status=$?
  current=''
  stop_feeding
  for part in "$name" "$name-before" "$name-after"; do look_left "$part" 'ORA-2000[12]:'; done
  if ended "$number" "$attempt"; then
    count_failed "$number" "$attempt"
    return 0
  fi
  clean "$number" "$attempt" || stop 1 "trial $number could not be put back (is the database gone, or the disk full?): $(first_error "$main"); run this again"
  if [ "$status" -eq 7 ]; then
    note "$number" "$main" failed
    count_failed "$number" "$attempt" "could not be prepared"
  else
    say "trial $number did not come to its end"
    broken=$((broken + 1))
  fi
}

# -- before and after --------------------------------------------------------------------------------------------
look_around() {
  session check check
  told 0 end check || stop 1 "the database does not answer: $(first_error check)"
  if told 0 'row|sessions' check; then
    grep '|row|sessions|' spool/check.lst >&2
    stop 5 "sessions of this run are still at work; wait for them, or end them with the statements shown"
  fi
  if [ ! -f spool/begun ] && told 0 'row|objects' check; then
    grep '|row|objects|' spool/check.lst >&2
    stop 5 "objects of this run are there, and not made from here: is there a copy of this bundle? undo.sql drops them"
  fi
}

agree() {
  sed -n 's/^# set for/set for/p' PLAN >&2
  [ -z "$agreed" ] || return 0
  grep '|row|server|' spool/check.lst | head -n 1 | cut -d '|' -f 8,10,12 >&2
  [ -t 0 ] || stop 2 "nobody can be asked whether to run here: add -y"
  printf 'run %s trials on this database? [y/N] ' "$(grep -c '^[0-9]' PLAN)" >&2
  read -r answer
  case $answer in y|Y|yes) ;; *) stop 130 "not done; nothing was changed" ;; esac
}

prepare() {
  [ -f sql/setup.sql ] || return 0
  [ ! -f spool/prepared ] || return 0
  conclude
  say "setup"
  session setup setup
  told 0 end setup || { conclude; stop 1 "setup failed: $(first_error setup)"; }
  : >spool/prepared
}

conclude() {
  [ -f sql/cleanup.sql ] || return 0
  rm -f spool/prepared
  session cleanup cleanup
  look_left cleanup 'ORA-'
  told 0 cleaned cleanup || say "cleanup could not run: $(first_error cleanup); run undo.sql"
}

# shellcheck disable=SC2317,SC2329
interrupted() {
  trap '' INT TERM HUP
  say "interrupted: ending what runs, and putting back what it made"
  for each in INT TERM KILL; do
    for child in $children $(client_pids) $(cat spool/load-*.pid 2>/dev/null); do kill -s "$each" "$child" 2>/dev/null; done
    tries=0
    while [ "$tries" -lt 5 ] && [ -n "$(client_pids)" ]; do sleep 1; tries=$((tries + 1)); done
    [ -n "$(client_pids)" ] || break
  done
  if [ -n "$current" ]; then
    note "$number" "$current" interrupted
    clean "$number" "$attempt" || say "what trial $number left is still there; run this again, or undo.sql"
  fi
  conclude
  leave 130
}

# shellcheck disable=SC2317,SC2329
client_pids() {
  for child in $children; do
    kill -0 "$child" 2>/dev/null && echo "$child"
  done
  for child in $children; do
    ps -o pid= -o ppid= -A 2>/dev/null | while read -r pid parent; do
      [ "$parent" != "$child" ] || echo "$pid"
    done
  done
}

find_client
find_loader
find_data_pump
find_writer
check_sums
lock
unfeed
ask_password
broken=0 failed=0 number=0 attempt=0 left=''
trap interrupted INT TERM HUP
trap '' PIPE
look_around
agree
"$client" -V </dev/null 2>/dev/null | grep -E 'SQL' | head -n 1 >spool/client.txt
: >spool/begun
prepare
while read -r number sessions title <&4; do
  case $number in ''|\#*|run) continue ;; esac
  trial "$number" "$sessions" "$title"
done 4<PLAN
conclude
if [ "$broken" -gt 0 ]; then
  stop 3 "$broken trials did not come to their end; run this again, then: dbatk ingest on this folder"
fi
if [ "$failed" -gt 0 ]; then
  stop 3 "$failed trials failed, as shown above; now: dbatk ingest on this folder, where dbatk is"
fi
[ -z "$left" ] || stop 3 "what is shown above was left as it is: see to it; then: dbatk ingest on this folder"
say "all trials came to their end; now: dbatk ingest on this folder, where dbatk is"
leave 0
