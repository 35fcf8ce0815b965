#!/bin/sh
# Runs a prompt with opencode, in the session of its conversation. Install it next to this file: npm install --prefix . opencode-ai
set -eu
PATH="$(dirname "$0")/node_modules/.bin:$PATH"

# opencode names its sessions itself. So each conversation has data of its own, in which its session is the last one.
login="$HOME/.local/share/opencode/auth.json"
export XDG_DATA_HOME="$HOME/.agent/opencode/$AGENT_CONVERSATION_ID"
mkdir -p "$XDG_DATA_HOME/opencode"
if [ -e "$login" ]; then ln -sfn "$login" "$XDG_DATA_HOME/opencode/auth.json"; fi

# The sandbox is the fence, so that nothing is asked. Nobody could answer.
set -- --format json --auto
if [ -n "$AGENT_MODEL" ]; then set -- "$@" --model "$AGENT_MODEL"; fi
if [ -n "$AGENT_REASONING_EFFORT" ]; then set -- "$@" --variant "$AGENT_REASONING_EFFORT"; fi

# The session is in the database once its first prompt has begun.
if [ -e "$XDG_DATA_HOME/opencode/opencode.db" ]; then exec opencode run "$@" --continue; fi
exec opencode run "$@"
