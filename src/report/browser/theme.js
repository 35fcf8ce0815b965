/** The light and the dark theme. The page follows the system until the reader chooses a theme. */
import { buttonById } from './dom.js';

/** @type {(() => void)[]} */
const themeListeners = [];

/** @param {() => void} listener is called when the colours changed */
export function onTheme(listener) {
  themeListeners.push(listener);
}

export function startTheme() {
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', showTheme);
  buttonById('theme-button').addEventListener('click', toggleTheme);
  showTheme();
}

export function toggleTheme() {
  document.documentElement.dataset.theme = isDark() ? 'light' : 'dark';
  showTheme();
}

function isDark() {
  const own = document.documentElement.dataset.theme;
  return own ? own === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
}

function showTheme() {
  buttonById('theme-button').textContent = isDark() ? 'Light' : 'Dark';
  for (const listener of themeListeners) listener();
}
