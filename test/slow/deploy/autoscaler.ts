/**
 * The autoscaler of `deploy/kubernetes`: how many workers Kubernetes' controller wants for the metrics and the behavior
 * of the manifest. What the manifest leaves out is as Kubernetes has it by default.
 */

export interface SlotMetric {
  readonly name: string;
  readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
}

/** What the manifest says. */
export interface AutoscalerSpec {
  readonly minReplicas: number;
  readonly maxReplicas: number;
  readonly metrics: readonly {
    readonly pods: { readonly metric: SlotMetric; readonly target: { readonly averageValue: string } };
  }[];
  readonly behavior: {
    readonly scaleDown: {
      readonly stabilizationWindowSeconds?: number;
      readonly policies: readonly { readonly type: string; readonly value: number; readonly periodSeconds: number }[];
    };
  };
}

export interface AutoscalerOptions {
  /** The load of the test, as a part of the load that the manifest is for: the targets are that part of themselves. */
  readonly loadShare: number;
  /** How many times as fast as in production its clock is. */
  readonly speed: number;
}

export interface Autoscaler {
  /** How often it looks, in ms. */
  readonly everyMs: number;
  /**
   * The number of workers from now on.
   * @param values of each metric the values of the workers that serve it
   */
  next(workers: number, values: readonly (readonly number[])[]): number;
}

/** The controller's own settings, in seconds. */
const lookEverySeconds = 15;
const stabilizationSeconds = 300;
/** Without a policy, the number at most doubles in this time, or grows by four. */
const growth = { pods: 4, factor: 2, seconds: 15 };
/** A difference this small changes nothing. */
const tolerance = 0.1;

/** The value of the series that a metric of the autoscaler selects, in the metrics of a worker with this task queue. */
export function slotsUsed(text: string, { name, selector }: SlotMetric, taskQueue: string): number {
  const labels = Object.entries(selector.matchLabels).map(
    ([label, value]) => `${label}="${value.replace(/^sandflow/, taskQueue)}"`,
  );
  const line = text
    .split('\n')
    .find((one) => one.startsWith(`${name}{`) && labels.every((label) => one.includes(label)));
  return Number(line?.split(' ').at(-1));
}

export function createAutoscaler(spec: AutoscalerSpec, { loadShare, speed }: AutoscalerOptions): Autoscaler {
  const targets = spec.metrics.map(({ pods }) => Number(pods.target.averageValue) * loadShare);
  const { policies, stabilizationWindowSeconds = stabilizationSeconds } = spec.behavior.scaleDown;
  const msOf = (seconds: number) => (1_000 * seconds) / speed;
  const wishes: { readonly atMs: number; readonly workers: number }[] = [];
  const changes: { readonly atMs: number; readonly by: number }[] = [];
  const within = <One extends { readonly atMs: number }>(list: readonly One[], seconds: number) =>
    list.filter(({ atMs }) => atMs > Date.now() - msOf(seconds));
  /** The number of workers before the changes of the last seconds. */
  const before = (workers: number, seconds: number) =>
    within(changes, seconds).reduce((sum, { by }) => sum - by, workers);

  return {
    everyMs: msOf(lookEverySeconds),
    next(workers, values) {
      const asked = Math.max(...targets.map((target, at) => wanted(workers, values[at] ?? [], target)));
      const wish = Math.min(spec.maxReplicas, Math.max(spec.minReplicas, asked));
      const stable = Math.max(wish, ...within(wishes, stabilizationWindowSeconds).map((one) => one.workers));
      wishes.push({ atMs: Date.now(), workers: wish });
      const start = before(workers, growth.seconds);
      const most = Math.max(start + growth.pods, start * growth.factor);
      const fewest = Math.min(
        ...policies.map(({ value, periodSeconds }) => Math.min(workers, before(workers, periodSeconds) - value)),
      );
      const decided =
        wish >= workers ? Math.min(wish, Math.max(most, workers)) : Math.max(Math.min(stable, workers), fewest);
      if (decided !== workers) changes.push({ atMs: Date.now(), by: decided - workers });
      return decided;
    },
  };
}

/** The number of workers that one metric asks for. One that serves no metrics yet changes no direction. */
function wanted(workers: number, values: readonly number[], target: number): number {
  const sum = values.reduce((all, one) => all + one, 0);
  const isLess = sum < target * values.length;
  const whole = isLess ? sum + target * (workers - values.length) : sum;
  const ratio = whole / (target * workers);
  if (values.length === 0 || Math.abs(ratio - 1) <= tolerance || ratio < 1 !== isLess) return workers;
  return Math.ceil(whole / target);
}
