/** Buttons that copy a command. */

/** @param {ParentNode} within */
export function startCopying(within) {
  for (const button of within.querySelectorAll('button.copy')) {
    if (!(button instanceof HTMLElement)) continue;
    button.hidden = false;
    button.addEventListener('click', () => void copy(button));
  }
}

/** Copies the command beside the button, or selects it if the browser does not allow copying. @param {HTMLElement} button */
async function copy(button) {
  const code = button.parentElement?.querySelector('code');
  if (!code) return;
  try {
    await navigator.clipboard.writeText(code.textContent ?? '');
    button.textContent = 'Copied';
  } catch {
    getSelection()?.selectAllChildren(code);
    button.textContent = 'Selected';
  }
}
