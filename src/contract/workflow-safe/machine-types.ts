/**
 * Machine sizes and the cost of their time (specification, "Machine-time multipliers").
 * No dependencies: workflow code imports this file.
 */

export const machineTypes = {
  small: { vcpu: 2, memoryGB: 4, multiplier: 0.5 },
  default: { vcpu: 4, memoryGB: 8, multiplier: 1 },
  large: { vcpu: 8, memoryGB: 16, multiplier: 2 },
  xlarge: { vcpu: 16, memoryGB: 64, multiplier: 50 / 9 },
} as const satisfies Record<string, { readonly vcpu: number; readonly memoryGB: number; readonly multiplier: number }>;

/** A machine size of the service (specification, "Resources and their fields"). */
export type MachineType = keyof typeof machineTypes;

export const machineSizes = Object.keys(machineTypes) as readonly MachineType[];

/**
 * The machine-seconds of a machine: its running time multiplied by the multiplier of its type.
 * @param ms how long the machine ran; a negative time counts as 0
 */
export function machineSeconds(type: MachineType, ms: number): number {
  return (Math.max(0, ms) / 1_000) * machineTypes[type].multiplier;
}
