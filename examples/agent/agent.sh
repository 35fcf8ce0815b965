#!/bin/sh
# An agent without a model. It answers with its prompt, and with the prompts before it in the same conversation.
set -eu

# The disk of a sandbox outlives the agent, which starts anew for each prompt.
conversation="$HOME/.agent/$AGENT_CONVERSATION_ID"
mkdir -p "$HOME/.agent"

# Standard error is shown only if the agent fails.
echo "running as $AGENT_PROVIDER" >&2

# Each line of standard output is shown at once. All of it is the answer.
if [ -n "${MODEL_KEY-}" ]; then echo "I have a key."; else echo "I have no key."; fi
if [ -e "$conversation" ]; then sed 's/^/You said before: /' "$conversation"; fi
prompt=$(cat)
echo "You say: $prompt"

# The last step, so that a prompt that was interrupted is not part of the conversation.
echo "$prompt" >>"$conversation"
