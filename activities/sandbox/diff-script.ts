/**
 * Builds the POSIX shell scripts that collect the changes of a git repository as a patch. They do not change its index,
 * its working tree or its objects, and are safe to repeat.
 *
 * The repository is not trusted. Its configuration can start programs, and can change what a patch looks like. Hooks,
 * monitors and filters are switched off, and the patch is made in an empty repository that only reads its objects.
 */
import { maxFileBytes } from '../../src/contract/workflow-safe/limits.js';
import { quotedForShell } from '../../src/texts/shell-word.js';

/** Words of the first line of an answer. */
export const diffWords = [
  'base',
  'patch',
  'no_folder',
  'git_missing',
  'not_a_repository',
  'base_unknown',
  'too_large',
  'failed',
] as const;
export type DiffWord = (typeof diffWords)[number];

export interface BaseScript {
  /** Folder of the repository, or a folder in it. */
  readonly path: string;
  /** Unique to the job and its sandbox. */
  readonly owner: string;
  /** True if a prompt may have changed the repository. Then only a commit that was recorded earlier counts. */
  readonly mayHavePrompted: boolean;
}

export interface PatchScript {
  readonly owner: string;
  /** The top folder of the repository. */
  readonly repository: string;
  /** Null if there was no commit. */
  readonly base: string | null;
}

/** First line of each answer, before its word. */
export const diffTag = 'sandflow-diff';
/** The largest patch, in bytes: it is collected as a file is. */
export const maxPatchBytes = maxFileBytes;
/** Bytes of a patch in one answer: a service may limit the output of a command. */
export const patchPieceBytes = 1024 * 1024;

const ownerPattern = /^[A-Za-z0-9_-]{8,200}$/;

function checked(owner: string): string {
  if (!ownerPattern.test(owner)) throw new RangeError(`"${owner}" cannot name files of a patch`);
  return owner;
}

function preamble(owner: string): string {
  return `umask 077
export LC_ALL=C GIT_OPTIONAL_LOCKS=0 GIT_TERMINAL_PROMPT=0 GIT_NO_LAZY_FETCH=1 GIT_NO_REPLACE_OBJECTS=1
sandflow_say() { printf '${diffTag} %s\\n' "$1"; shift; [ $# -eq 0 ] || printf '%s\\n' "$@" | head -c 2000; exit 0; }
sandflow_base=/tmp/.sandflow-base-${checked(owner)}
sandflow_git() { command git -c safe.directory='*' -c core.fsmonitor= -c core.hooksPath=/dev/null "$@"; }
sandflow_enter() {
  CDPATH= cd -- "$1" 2>/dev/null || sandflow_say no_folder
  command -v git >/dev/null 2>&1 || sandflow_say git_missing
  unset $(git rev-parse --local-env-vars 2>/dev/null) GIT_EXTERNAL_DIFF GIT_DIFF_OPTS GIT_CEILING_DIRECTORIES
}
`;
}

/**
 * Prints the commit that is checked out, and the top folder of the repository. A repetition prints what the first run
 * found, also after the repository has changed.
 */
export function baseText({ path, owner, mayHavePrompted }: BaseScript): string {
  const record = mayHavePrompted
    ? '[ -f "$sandflow_base" ] || sandflow_say base_unknown "A prompt may have changed the repository before its commit was recorded"'
    : `printf '%s\\n' "$sandflow_head" "$sandflow_root" >"$sandflow_base.$$" && ln "$sandflow_base.$$" "$sandflow_base"
rm -f "$sandflow_base.$$"`;
  return `${preamble(owner)}sandflow_enter ${quotedForShell(path)}
sandflow_root=$(sandflow_git rev-parse --show-toplevel 2>&1) || sandflow_say not_a_repository "$sandflow_root"
sandflow_head=$(sandflow_git rev-parse -q --verify 'HEAD^{commit}' 2>/dev/null) || {
  sandflow_git symbolic-ref -q HEAD >/dev/null 2>&1 || sandflow_say base_unknown "HEAD is not a commit"
  sandflow_head=none
}
{ ${record}
} 2>/dev/null
[ ! -f "$sandflow_base" ] || { printf '${diffTag} base\\n'; cat "$sandflow_base"; exit 0; }
sandflow_say base "$sandflow_head" "$sandflow_root"
`;
}

/** Where the script leaves a patch that is too long for one answer. */
const keptPatch = (owner: string) => `/tmp/.sandflow-diff-${checked(owner)}`;

/**
 * Prints facts about the patch. If the patch fits into one answer, also prints the patch in base64. A longer patch
 * stays in a file until `patchRemovalText` removes it.
 */
export function patchText({ owner, repository, base }: PatchScript): string {
  return `${preamble(owner)}sandflow_root=${quotedForShell(repository)}
sandflow_enter "$sandflow_root"
sandflow_w=$(mktemp -d ${keptPatch(owner)}.XXXXXX 2>&1) || sandflow_say failed "$sandflow_w"
command -v base64 >/dev/null || sandflow_say failed 'The sandbox has no base64'
trap 'rm -rf "$sandflow_w" "$sandflow_base"' EXIT
trap 'exit 1' HUP INT TERM
exec 2>"$sandflow_w/errors"
sandflow_fail() { sandflow_say failed "$1 $(tail -n 5 "$sandflow_w/errors" | head -c 1000)"; }

# A repository further up is another one.
export GIT_CEILING_DIRECTORIES="\${sandflow_root%/*}"
sandflow_dir=$(sandflow_git rev-parse --absolute-git-dir) || sandflow_say not_a_repository "$(head -c 1000 "$sandflow_w/errors")"
export GIT_DIR="$sandflow_dir" GIT_WORK_TREE="$sandflow_root"
sandflow_objects=$(sandflow_git rev-parse --git-path objects) || sandflow_fail 'It has no objects:'
case $sandflow_objects in /*) ;; *) sandflow_objects=$PWD/$sandflow_objects ;; esac
sandflow_empty=$(sandflow_git hash-object -t tree /dev/null) || sandflow_fail 'It cannot be read:'
${
  base === null
    ? 'sandflow_tree=$sandflow_empty'
    : `sandflow_tree=${quotedForShell(base)}
sandflow_git cat-file -e "$sandflow_tree^{commit}" || sandflow_say base_unknown "The repository no longer has the commit $sandflow_tree"`
}

# The configuration of the repository comes before this file, so this file counts.
cat >"$sandflow_w/config" <<'SANDFLOW_CONFIG'
[core]
	safecrlf = false
	splitIndex = false
	untrackedCache = false
[index]
	sparse = false
[submodule]
	recurse = false
SANDFLOW_CONFIG
sandflow_filters=
sandflow_names=$(sandflow_git config --name-only --get-regexp '^filter\\.')
while IFS= read -r sandflow_key; do
  case $sandflow_key in
    filter.lfs.*) ! command -v git-lfs >/dev/null || continue ;;
  esac
  case $sandflow_key in
    *.required) command git config -f "$sandflow_w/config" "$sandflow_key" false ;;
    *.clean | *.process) command git config -f "$sandflow_w/config" "$sandflow_key" '' ;;
    *) continue ;;
  esac || sandflow_fail 'A filter cannot be switched off:'
  sandflow_name=\${sandflow_key#filter.}
  case $sandflow_name in lfs.*) ;; *) sandflow_filters="$sandflow_filters \${sandflow_name%.*}" ;; esac
done <<SANDFLOW_NAMES
$sandflow_names
SANDFLOW_NAMES
if command -v git-lfs >/dev/null; then
  command git config -f "$sandflow_w/config" filter.lfs.clean 'git-lfs clean -- %f'
  command git config -f "$sandflow_w/config" filter.lfs.process git-lfs\\ filter-process
fi
sandflow_git() { command git -c include.path="$sandflow_w/config" -c safe.directory='*' -c core.fsmonitor= -c core.hooksPath=/dev/null "$@"; }

# The new index holds no times of files, so git reads every file: the old times may hide a change.
mkdir -p "$sandflow_w/objects/info" "$sandflow_w/clean/objects" "$sandflow_w/clean/refs" || sandflow_fail 'There is no place:'
printf '%s\\n' "$sandflow_objects" >"$sandflow_w/objects/info/alternates" || sandflow_fail 'There is no place:'
sandflow_read=y
sandflow_git ls-files -s -z >"$sandflow_w/entries" || sandflow_read=
sandflow_sparse=$(sandflow_git config --type=bool core.sparseCheckout)
[ "$sandflow_sparse" != true ] || sandflow_git ls-files -t -z | tr '\\0\\n' '\\n\\0' | sed -n 's/^S //p' | tr '\\n\\0' '\\0\\n' >"$sandflow_w/skipped"
export GIT_INDEX_FILE="$sandflow_w/index" GIT_OBJECT_DIRECTORY="$sandflow_w/objects"
if [ -n "$sandflow_read" ]; then
  sandflow_git update-index -z --index-info <"$sandflow_w/entries" || sandflow_fail 'Its index cannot be read:'
else
  sandflow_git read-tree "$sandflow_tree" || sandflow_fail 'Its index cannot be read:'
fi
if [ "$sandflow_sparse" = true ]; then
  sandflow_git update-index -z --skip-worktree --stdin <"$sandflow_w/skipped" || sandflow_fail 'Its sparse checkout cannot be read:'
  sandflow_add=--sparse
fi
: >"$sandflow_w/errors"
sandflow_git add -A --ignore-errors \${sandflow_add-} >&2
sandflow_added=$?
sandflow_missed=
[ "$sandflow_added" -eq 0 ] || sandflow_missed=$(grep -v '^hint:' "$sandflow_w/errors" | head -n 3 | tr '\\n' ' ' | head -c 500)
[ "$sandflow_added" -eq 0 ] || [ -n "$sandflow_missed" ] || sandflow_missed='git add failed'
sandflow_new=$(sandflow_git write-tree --missing-ok) || sandflow_fail 'Its changes cannot be read:'
sandflow_links=$(sandflow_git ls-files -s | grep -c '^160000 ')

# An empty repository: no configuration and no attributes change the patch.
printf 'ref: refs/heads/main\\n' >"$sandflow_w/clean/HEAD"
if [ "\${#sandflow_empty}" -eq 64 ]; then
  printf '[core]\\n\\trepositoryformatversion = 1\\n\\tbare = true\\n[extensions]\\n\\tobjectformat = sha256\\n'
else
  printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = true\\n'
fi >"$sandflow_w/clean/config"
unset GIT_WORK_TREE GIT_INDEX_FILE
export GIT_DIR="$sandflow_w/clean" GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_ATTR_NOSYSTEM=1
export HOME="$sandflow_w" XDG_CONFIG_HOME="$sandflow_w"
cd "$sandflow_w" || sandflow_fail 'There is no place:'
{
  command git diff-tree -r -p --binary --full-index --find-renames --no-ext-diff --no-textconv --no-color --ignore-submodules=none --submodule=short --src-prefix=a/ --dst-prefix=b/ "$sandflow_tree" "$sandflow_new"
  echo $? >status
} | head -c ${maxPatchBytes + 1} >patch
sandflow_size=$(($(wc -c <patch)))
[ "$sandflow_size" -le ${maxPatchBytes} ] || sandflow_say too_large
[ "$(cat status)" = 0 ] || sandflow_fail 'The patch cannot be made:'
sandflow_id=$(command git hash-object --stdin <patch) || sandflow_fail 'The patch cannot be read:'
printf '${diffTag} patch\\nsize %s\\nid %s\\nsubmodules %s\\n' "$sandflow_size" "$sandflow_id" "\${sandflow_links:-0}"
[ -z "$sandflow_filters" ] || printf 'filters %s\\n' "$sandflow_filters" | head -c 300
[ -z "$sandflow_filters" ] || echo
[ -z "$sandflow_missed" ] || printf 'missed %s\\n' "$sandflow_missed"
echo content
if [ "$sandflow_size" -le ${patchPieceBytes} ]; then
  base64 <patch
else
  mv patch ${keptPatch(owner)}."$sandflow_id" || exit 1
fi
echo end
`;
}

/** Prints a piece of a patch that was too long for one answer. */
export function patchPieceText(owner: string, id: string, offset: number): string {
  const file = `${keptPatch(owner)}.${id}`;
  return `printf '${diffTag} patch\\ncontent\\n'
tail -c +${offset + 1} ${quotedForShell(file)} | head -c ${patchPieceBytes} | base64
echo end
`;
}

/** Removes everything that the scripts of an owner have left in the sandbox. */
export function patchRemovalText(owner: string): string {
  return `rm -rf ${keptPatch(owner)}.* /tmp/.sandflow-base-${owner}`;
}
