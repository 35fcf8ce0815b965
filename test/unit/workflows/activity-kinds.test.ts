import { expectTypeOf, test } from 'vitest';
import type { CommandActivities, EffectActivities, ReadActivities } from '../../../activities/activity-kinds.js';
import type { SandflowActivities } from '../../../activities/index.js';

// These are checked by `npm run types`.
test('a proxy for reads has no activity that changes something', () => {
  expectTypeOf<ReadActivities>().toHaveProperty('getSandbox');
  expectTypeOf<ReadActivities>().not.toHaveProperty('sendPrompt');
  expectTypeOf<ReadActivities>().not.toHaveProperty('downloadArtifact');
  expectTypeOf<Extract<keyof ReadActivities, keyof EffectActivities | keyof CommandActivities>>().toBeNever();
});

test('a proxy for effects has no read, and no command that must not be repeated', () => {
  expectTypeOf<EffectActivities>().toHaveProperty('sendPrompt');
  expectTypeOf<EffectActivities>().not.toHaveProperty('getSandbox');
  expectTypeOf<SandflowActivities>().toHaveProperty('runCommand');
  expectTypeOf<EffectActivities>().not.toHaveProperty('runCommand');
});
