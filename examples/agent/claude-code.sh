#!/bin/sh
# Runs a prompt with Claude Code, in the session of its conversation. Install it next to this file: npm install --prefix . @anthropic-ai/claude-code
set -eu
PATH="$(dirname "$0")/node_modules/.bin:$PATH"

# A session has a UUID. That of a conversation is its id, filled up with zeros.
session=$(echo "${AGENT_CONVERSATION_ID#conv_}" | sed 's/^\(....\)\(....\)\(....\)\(............\)$/00000000-\1-\2-\3-\4/')

# The sandbox is the fence, so that nothing is asked. Nobody could answer.
set -- --print --verbose --output-format stream-json --dangerously-skip-permissions
if [ -n "$AGENT_MODEL" ]; then set -- "$@" --model "$AGENT_MODEL"; fi
if [ -n "$AGENT_REASONING_EFFORT" ]; then set -- "$@" --effort "$AGENT_REASONING_EFFORT"; fi

# The session is on the disk once its first prompt has begun.
if ls "$HOME"/.claude/projects/*/"$session.jsonl" >/dev/null 2>&1; then
  exec claude "$@" --resume "$session"
fi
exec claude "$@" --session-id "$session"
