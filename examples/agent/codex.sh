#!/bin/sh
# Runs a prompt with Codex, in the session of its conversation. Install it next to this file: npm install --prefix . @openai/codex
set -eu
# The program itself, which needs no Node.js.
PATH="$(echo "$(dirname "$0")"/node_modules/@openai/codex-linux-*/vendor/*/bin):$PATH"

# Codex names its sessions itself. So each conversation has a home of its own, in which its session is the last one.
export CODEX_HOME="$HOME/.agent/codex/$AGENT_CONVERSATION_ID"
mkdir -p "$CODEX_HOME"
for name in config.toml auth.json AGENTS.md rules skills; do
  if [ -e "$HOME/.codex/$name" ]; then ln -sfn "$HOME/.codex/$name" "$CODEX_HOME/$name"; fi
done

# The sandbox is the fence, so that nothing is asked. Nobody could answer.
set -- --json --dangerously-bypass-approvals-and-sandbox --skip-git-repo-check
if [ -n "$AGENT_MODEL" ]; then set -- "$@" --model "$AGENT_MODEL"; fi
if [ -n "$AGENT_REASONING_EFFORT" ]; then set -- "$@" --config "model_reasoning_effort=\"$AGENT_REASONING_EFFORT\""; fi

# The session is on the disk once its first prompt has begun.
if [ -d "$CODEX_HOME/sessions" ]; then exec codex exec "$@" resume --last -; fi
exec codex exec "$@" -
