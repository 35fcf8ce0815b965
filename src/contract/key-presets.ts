/** What the presets of API keys grant (specification, "Scope"). No dependencies. */
import type { ScopeAction } from './endpoint.js';

/** `*` stands for every action. */
export type KeyAction = ScopeAction | '*';

/** What the credential written into a sandbox may do, to that sandbox and to nothing else (specification, "Scope"). */
export const sandboxCredentialActions = [
  'agent.prompt',
  'exec',
  'file.read',
  'file.write',
  'ssh',
  'desktop',
  'host',
  'snapshot.read',
  'snapshot.write',
] as const satisfies readonly KeyAction[];

/**
 * Preset → actions. Assumption: the specification says what each grants in a few words; an action that those words do not
 * reach is not granted.
 */
export const keyPresetActions = {
  'read-only': ['sandbox.read', 'file.read', 'snapshot.read', 'environment.read'],
  'full-sandbox': ['sandbox.read', 'sandbox.update', 'sandbox.stop', ...sandboxCredentialActions, 'environment.read'],
  ci: [
    'sandbox.create',
    'sandbox.read',
    'sandbox.update',
    'sandbox.stop',
    'sandbox.resume',
    'sandbox.fork',
    'agent.prompt',
    'exec',
    'file.read',
    'file.write',
    'snapshot.read',
    'snapshot.write',
    'environment.read',
  ],
  admin: ['*'],
} as const satisfies Record<string, readonly KeyAction[]>;
export type KeyPreset = keyof typeof keyPresetActions;
