#!/bin/sh
# Runs the trials of a bundle of backups with rman, one after the other; begun again, it goes on where it broke off.
# Usage: sh run.sh [-y] [CONNECT]      CONNECT is `/` (if not given), `"/ as sysbackup"` or `"/@alias as sysbackup"`
# Needs: ORACLE_HOME and ORACLE_SID (or a wallet), the rights of SYSBACKUP or SYSDBA, a shell, no Python.
umask 077
cd "$(dirname "$0")" || exit 1
say() { printf '%s\n' "$*" >&2; }
stop() { status=$1; shift; say "$*"; exit "$status"; }
agreed=''
[ "${1:-}" != -y ] || { agreed=yes; shift; }
connect=${1:-/}
case $connect in
  /|'"/ as sysbackup"'|'"/ as sysdba"'|'"/@'*) ;;
  *) stop 2 'connect as `/`, `"/ as sysbackup"` or `"/@alias as sysbackup"`: a password would be seen in the process list' ;;
esac
NLS_DATE_FORMAT='YYYY-MM-DD HH24:MI:SS' NLS_LANG=AMERICAN_AMERICA.AL32UTF8
export NLS_DATE_FORMAT NLS_LANG
client=${ORACLE_HOME:+$ORACLE_HOME/bin/}rman
command -v "$client" >/dev/null 2>&1 || stop 2 "there is no $client: set ORACLE_HOME"
if command -v sha256sum >/dev/null 2>&1; then
  sha256sum -c SHA256SUMS >/dev/null 2>&1 || stop 2 "a file of this bundle was altered: export it anew"
fi
mkdir -p spool
run_rman() { # SCRIPT LOG: a recovery catalog is not for `nocatalog`, and the rows of lists have no numbers
  mode='nocatalog' numbers='msgno'
  ! grep '^CONNECT CATALOG ' "$1" >/dev/null || mode=''
  ! grep -E '^(REPORT|LIST) ' "$1" >/dev/null || numbers=''
  # shellcheck disable=SC2086
  { printf 'CONNECT TARGET %s\n' "$connect"; cat "$1"; } | "$client" $mode $numbers >"$2" 2>&1 &
  child=$!
  wait "$child"
}
# seconds since 1970, with decimals where this date has them
instant() { at=$(date +%s.%N); case $at in *N*) date +%s ;; *) printf '%s\n' "$at" ;; esac; }
whole() { grep 'Recovery Manager complete' "$1" >/dev/null 2>&1 && ! grep 'ERROR MESSAGE STACK' "$1" >/dev/null 2>&1; }
# clean NUMBER: delete what a trial wrote, by its tag, and its folders; a folder stays when the deletion failed
clean() {
  [ -f "rman/$1-delete.rman" ] || return 0
  run_rman "rman/$1-delete.rman" "spool/$1-delete.log"
  whole "spool/$1-delete.log" || { say "what $1 wrote could not be deleted: see spool/$1-delete.log; run this again"; return 1; }
  while read -r folder; do
    [ ! -f "$folder/.dbatk" ] || rm -r -- "$folder"
  done <"rman/$1-folders"
}
interrupted() {
  trap '' INT TERM HUP
  say "interrupted: ending rman, and deleting what it wrote"
  [ -z "${child:-}" ] || kill -INT "$child" 2>/dev/null
  wait
  [ -z "${current:-}" ] || { rm -f "spool/$current.times"; clean "$current"; }
  exit 130
}
if [ -z "$agreed" ]; then
  [ -t 0 ] || stop 2 "nobody can be asked whether to run here: add -y"
  printf 'run %s backups or validations on %s? [y/N] ' "$(wc -l <PLAN | tr -d ' ')" "${ORACLE_SID:-$connect}" >&2
  read -r answer
  case $answer in y|Y|yes) ;; *) stop 130 "not done; nothing was changed" ;; esac
fi
trap interrupted INT TERM HUP
broken=0 child='' current=''
while read -r number title <&4; do
  [ ! -f "spool/$number.times" ] || continue
  say "$number: $title"
  clean "$number" || stop 1 "the rest was not begun"
  if [ -f "rman/$number-folders" ]; then
    while read -r folder; do
      mkdir -m 700 -- "$folder" || stop 1 "$folder cannot be made"
      printf '%s\n' "made by dbatk, may be dropped" >"$folder/.dbatk"
    done <"rman/$number-folders"
  fi
  current=$number
  begun=$(instant)
  run_rman "rman/$number.rman" "spool/$number.log"
  status=$?
  ended=$(instant)
  whole "spool/$number.log" || { say "$number failed: see spool/$number.log"; broken=$((broken + 1)); }
  printf '%s %s %s\n' "$begun" "$ended" "$status" >"spool/$number.times"
  clean "$number" || stop 1 "the rest was not begun"
  current=''
done 4<PLAN
[ "$broken" -eq 0 ] || stop 3 "$broken trials failed; now: dbatk ingest on this folder"
say "all trials came to their end; now: dbatk ingest on this folder, where dbatk is"
