/** The controls above the table. */
import { browsing, clearChosen, onBrowsing, refresh, showOnly } from './browsing.js';
import { buttonById, byId, element, inputById, outcomeBadge } from './dom.js';
import { openComparison } from './items/compare-dialog.js';
import { page } from './page-data.js';

export function startFilters() {
  const search = inputById('filter-text');
  search.addEventListener('input', () => {
    browsing.text = search.value;
    refresh();
  });
  byId('filter-outcomes').replaceChildren(...outcomeChips());
  buttonById('compare-button').addEventListener('click', () => openComparison([...browsing.chosen]));
  buttonById('clear-button').addEventListener('click', clearChosen);
  buttonById('failure-filter').addEventListener('click', () => showOnly(null));
  onBrowsing(showState);
  showState();
}

function outcomeChips() {
  const counts = new Map();
  for (const { outcome } of page.items) counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
  return Object.entries(page.outcomes)
    .filter(([outcome]) => counts.has(outcome))
    .map(([outcome, look]) => {
      const chip = element(
        'button',
        { type: 'button', class: 'chip', 'aria-pressed': 'false', 'data-outcome': outcome },
        outcomeBadge(look),
        ` ${counts.get(outcome).toLocaleString('en')}`,
      );
      chip.addEventListener('click', () => {
        if (!browsing.outcomes.delete(outcome)) browsing.outcomes.add(outcome);
        refresh();
      });
      return chip;
    });
}

function showState() {
  const { shown, chosen, outcomes, failure, text } = browsing;
  const all = page.items.length.toLocaleString('en');
  const choice = chosen.size > 0 ? ` · ${chosen.size} selected` : '';
  byId('shown').textContent =
    `${shown.length === page.items.length ? all : `${shown.length.toLocaleString('en')} of ${all}`} items${choice}`;
  buttonById('compare-button').disabled = chosen.size < 2;
  buttonById('compare-button').textContent = chosen.size < 2 ? 'Compare (select 2 to 4)' : `Compare ${chosen.size}`;
  buttonById('clear-button').hidden = chosen.size === 0;
  buttonById('failure-filter').hidden = failure === null;
  for (const chip of byId('filter-outcomes').querySelectorAll('button')) {
    chip.setAttribute('aria-pressed', String(outcomes.has(chip.dataset.outcome ?? '')));
  }
  const search = inputById('filter-text');
  if (search.value !== text) search.value = text;
}
