#!/bin/sh
# Runs once in a new sandbox, before the first prompt.
sh -c 'echo "a shell and $(uname)"' > tools.txt
