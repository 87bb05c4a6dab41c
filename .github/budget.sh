#!/usr/bin/env bash
# Run by action.yml: checks the budgets of a repository and writes annotations, a step summary and the text of a comment.
#
#   CONFIG     the budget file (default: tmeter.toml)
#   REQUIREMENT  the requirement for pip if tmeter is missing: "tmeter", "tmeter==1.0.0", a wheel
#   COMMENT    folder for comment.md and status, which a second workflow posts; empty: none
set -euo pipefail

config=${CONFIG:-tmeter.toml}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

if ! command -v tmeter >/dev/null; then
  python3 -m venv "$work/venv"
  "$work/venv/bin/pip" install --quiet --disable-pip-version-check "${REQUIREMENT:-tmeter}"
  PATH=$work/venv/bin:$PATH
fi

status=0
tmeter budget --config "$config" --why --report github --report "markdown=$work/table.md" \
  --report "text=$work/lines.txt" >"$work/annotations" || status=$?
cat "$work/annotations"
if [ -e "$work/lines.txt" ]; then cat "$work/lines.txt"; fi
{
  if [ "$status" = 0 ]; then echo '### tmeter: within budget'; else echo '### tmeter: over budget'; fi
  echo
  if [ -e "$work/table.md" ]; then cat "$work/table.md"; else echo "The budgets could not be checked (status $status)."; fi
} >"$work/summary.md"
cat "$work/summary.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
if [ -n "${COMMENT:-}" ]; then
  mkdir -p "$COMMENT"
  cp "$work/summary.md" "$COMMENT/comment.md"
  echo "$status" >"$COMMENT/status"
fi
exit "$status"
