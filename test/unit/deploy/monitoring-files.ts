/** The files for Prometheus and Grafana in `deploy/monitoring`, and the metrics that they name. */
import { parse } from 'yaml';
import { readSource } from '../house/source-imports.js';

export interface Panel {
  readonly title: string;
  readonly fieldConfig: { readonly defaults: { readonly unit: string } };
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly annotations: Readonly<Record<string, string>>;
}

export const alertsFile = 'deploy/monitoring/alerts.yml';

export function panels(): readonly Panel[] {
  return (JSON.parse(readSource('deploy/monitoring/dashboard.json')) as { panels: readonly Panel[] }).panels;
}

export function rules(): readonly Rule[] {
  const { groups } = parse(readSource(alertsFile)) as { groups: readonly { rules: readonly Rule[] }[] };
  return groups.flatMap((group) => group.rules);
}

/** The metrics of sandflow and of Temporal that a text names, without the endings of a histogram's series. */
export function metricsIn(text: string): string[] {
  const names = [...text.matchAll(/\b(?:sandflow|temporal)_[a-z_]+/g)].map(([name]) => name);
  return [...new Set(names.map((name) => name.replace(/_(?:bucket|count|sum)$/, '')))].sort();
}

/** The metrics that the dashboard and the alerts name. */
export function usedMetrics(): string[] {
  return metricsIn(
    [...panels().flatMap(({ targets }) => targets.map(({ expr }) => expr)), ...rules().map(({ expr }) => expr)].join(
      '\n',
    ),
  );
}

/** The metrics in the tables of docs/monitoring.md. */
export function documentedMetrics(): string[] {
  return metricsIn(
    [...readSource('docs/monitoring.md').matchAll(/^\| `(\w+)` \|/gm)].map(([, name]) => name).join('\n'),
  );
}
