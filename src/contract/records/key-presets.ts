/** The actions that the presets of API keys grant (specification, "Scope"). No dependencies. */
import { type ScopeAction, sandboxCredentialActions } from '../endpoints/endpoint.js';

/** `*` stands for every action. */
export type KeyAction = ScopeAction | '*';

/**
 * The actions of each preset. Assumption: the specification only describes each preset in a few words; an action that
 * the description does not cover is not granted.
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
