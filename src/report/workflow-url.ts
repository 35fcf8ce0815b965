/** Addresses of workflows in Temporal's UI. */
import { withoutEndSlashes } from '../texts/urls.js';
import type { WorkflowUi } from './page-data.js';

/** @returns null if there is no UI, or if its address is not an `http` or `https` URL */
export function workflowUrl(ui: WorkflowUi | null | undefined, workflowId: string): string | null {
  if (!ui || !/^https?:\/\//i.test(ui.url)) return null;
  const path = ['namespaces', ui.namespace, 'workflows', workflowId].map(encodeURIComponent).join('/');
  return `${withoutEndSlashes(ui.url)}/${path}`;
}
