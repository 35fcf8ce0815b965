/** Creates elements. Text always stays text: no function here accepts markup. */

/**
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page has no element ${id}.`);
  return found;
}

/** @param {string} id @returns {HTMLButtonElement} */
export function buttonById(id) {
  return /** @type {HTMLButtonElement} */ (byId(id));
}

/** @param {string} id @returns {HTMLInputElement} */
export function inputById(id) {
  return /** @type {HTMLInputElement} */ (byId(id));
}

/** @param {string} id @returns {HTMLDialogElement} */
export function dialogById(id) {
  return /** @type {HTMLDialogElement} */ (byId(id));
}

/** @param {string} within a selector @returns {HTMLElement[]} */
export function buttonsIn(within) {
  return [...document.querySelectorAll(`${within} button`)].map((button) => /** @type {HTMLElement} */ (button));
}

/**
 * @param {string} tag
 * @param {Record<string, string | number | boolean | null>} attributes a value of `false` or `null` omits the attribute
 * @param {...(Node | string | null)} children
 * @returns {HTMLElement}
 */
export function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null) continue;
    made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/**
 * @param {string} name its class names
 * @param {string} text
 */
export function span(name, text) {
  return element('span', { class: name }, text);
}

/**
 * The mark and the word of an outcome.
 * @param {import('../page-data.js').OutcomeStyle} look
 */
export function outcomeBadge({ mark, word, tone }) {
  return element(
    'span',
    { class: `outcome tone-${tone}` },
    element('span', { class: 'mark', 'aria-hidden': 'true' }, mark),
    ` ${word}`,
  );
}
