#!/bin/sh
# Stands in for a coding agent, without a model. It corrects one word: the first that its prompt names in a line such as
# "en.txt: expected Hello, got Helo", as an issue or a failed test does.
set -eu
prompt=$(cat)
text="$HOME/pull-request.md"
cd "$HOME/app"

branch=$(printf '%s\n' "$prompt" | sed -n 's/^Branch: \([a-z-]*\)$/\1/p')
if [ -n "$branch" ]; then git switch --quiet --create "$branch"; fi

mistake=$(printf '%s\n' "$prompt" | grep -oE '[a-z]+\.txt: expected [A-Za-z]+, got [A-Za-z]+' | head -n 1)
read -r file _ expected _ found <<END
$(echo "$mistake" | tr -d ':,')
END
sed -i "s/=$found\$/=$expected/" "$file"
git -c user.name=agent -c user.email=agent@example.com commit --quiet --all --message "Write $expected in $file"

# The text of a pull request, which grows by a line with each round.
if [ ! -e "$text" ]; then printf 'Correct the words of %s\n\n' "$file" >"$text"; fi
echo "- $expected instead of $found" >>"$text"
cat "$text"
