#!/usr/bin/env bash
# Decides by `sigtest gate`, comments on the pull request, and ends as the gate does: 0 that the candidate passes, 1
# that it fails, 3 that the results cannot tell, 2 that they cannot be compared.
set -uo pipefail

report=$(mktemp)
read -ra options <<<"$OPTIONS"
sigtest gate "baseline=$BASELINE" "candidate=$CANDIDATE" --baseline baseline --margin "$MARGIN" \
    ${METRIC:+--metric "$METRIC"} "${options[@]}" --format markdown >"$report" 2>"$report.problem"
status=$?
case $status in
0) outcome=pass ;;
1) outcome=fail ;;
3) outcome=undecided ;;
*)
    outcome=error
    { echo '```'; cat "$report.problem"; echo '```'; } >"$report"
    ;;
esac
echo "outcome=$outcome" >>"${GITHUB_OUTPUT:-/dev/stdout}"
comment=$(mktemp)
{ echo "<!-- sigtest gate -->"; echo "### sigtest: $outcome"; echo; cat "$report"; } >"$comment"
cat "$comment" >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"
if [ -n "${PULL_REQUEST:-}" ]; then # one comment, which the next run changes
    issues="repos/$GITHUB_REPOSITORY/issues"
    own=$(gh api --paginate "$issues/$PULL_REQUEST/comments" \
        --jq '.[] | select(.body | startswith("<!-- sigtest gate -->")) | .id' | head -n 1)
    if [ -n "$own" ]; then
        gh api --silent --method PATCH "$issues/comments/$own" -F body=@"$comment"
    else
        gh pr comment "$PULL_REQUEST" --repo "$GITHUB_REPOSITORY" --body-file "$comment"
    fi
fi
exit $status
