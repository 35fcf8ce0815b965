export * from '../../unit/house/snippets/own-child.js';
export { review } from '../../unit/house/snippets/own-workflow.js';
