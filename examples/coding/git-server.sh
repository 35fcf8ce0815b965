#!/bin/sh
# Makes two repositories with mistakes in a folder, unless they are there, and serves them at git://127.0.0.1 until
# Ctrl-C. Every program of this machine may push to them.
#   sh examples/coding/git-server.sh FOLDER PORT
set -eu
mkdir -p "$1"
folder=$(cd "$1" && pwd)

# The standard input has a line for each word: language, key, the word, and the word with its mistake, if it has one.
make_repository() {
  if [ -e "$folder/$1.git" ]; then return; fi
  work=$(mktemp -d)
  git init --quiet --initial-branch main "$work"
  cat >"$work/test.sh" <<'TEST'
#!/bin/sh
# Tests the words of the languages that are named, or of all. It stops at the first mistake.
while read -r language key word; do
  case " $* " in "  " | *" $language "*) ;; *) continue ;; esac
  found=$(sed -n "s/^$key=//p" "$language.txt")
  if [ "$found" != "$word" ]; then
    echo "$language.txt: expected $word, got $found"
    exit 1
  fi
done <<'WORDS'
TEST
  while read -r language key word mistake; do
    echo "$language $key $word" >>"$work/test.sh"
    echo "$key=${mistake:-$word}" >>"$work/$language.txt"
  done
  printf 'WORDS\necho "All words are right."\n' >>"$work/test.sh"
  git -C "$work" add .
  git -C "$work" -c user.name=ada -c user.email=ada@example.com commit --quiet --message "Add five languages"
  git clone --quiet --bare "$work" "$folder/$1.git"
  rm -rf "$work"
}

make_repository greeter <<'END'
en hello Hello Helo
en bye Goodbye Godbye
en thanks Thanks Thansk
de hello Hallo Halo
de bye Servus
de thanks Danke
fr hello Bonjour Bonjuor
fr bye Salut Saltu
fr thanks Merci
es hello Hola Olah
es bye Adios
es thanks Gracias
it hello Ciao Caio
it bye Arrivederci Arivederci
it thanks Grazie Grazzie
END

make_repository calendar <<'END'
en january January Janaury
en april April
en october October
de january Januar Janaur
de april April Arpil
de october Oktober
fr january janvier javnier
fr april avril arvil
fr october octobre octorbe
es january enero nero
es april abril
es october octubre
it january gennaio genaio
it april aprile arpile
it october ottobre
END

echo "Serving $folder at git://127.0.0.1:$2"
exec "$(git --exec-path)/git-daemon" --listen=127.0.0.1 --port="$2" --reuseaddr \
  --base-path="$folder" --export-all --enable=receive-pack
