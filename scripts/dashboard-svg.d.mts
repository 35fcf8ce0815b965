export interface DrawnPanel {
  readonly title: string;
  readonly unit: string;
  readonly series: readonly {
    readonly label: string;
    /** Seconds since the epoch, and a value. */
    readonly points: readonly (readonly [number, number])[];
  }[];
}
export function dashboardSvg(
  panels: readonly DrawnPanel[],
  options: { readonly from: number; readonly to: number; readonly theme: 'light' | 'dark' },
): string;
