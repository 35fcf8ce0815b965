#!/bin/sh
# A setup script: makes a git repository in the folder app of a new sandbox.
mkdir -p app && cd app
git init --quiet
echo 'echo "Hello, $1"' > greet.sh
git add greet.sh
git -c user.name=ada -c user.email=ada@example.com commit --quiet --message "Greet somebody"
