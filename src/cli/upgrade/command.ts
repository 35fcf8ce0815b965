import { type AddCommand, lazily } from '../command.js';
import { declareCheck, declareDrain, declareSwitch, declareUpgrade } from './options.js';

/** `sandflow upgrade`: checks a new build, lets it take over, and shows what the old one still has. */
export const addUpgrade: AddCommand = (parent, context) => {
  const upgrade = declareUpgrade(parent);
  declareCheck(upgrade).action(lazily(context, async () => (await import('./check-upgrade.js')).checkUpgrade));
  declareSwitch(upgrade).action(async (version) => (await import('./versions.js')).switchTo(version, context));
  declareDrain(upgrade).action(lazily(context, async () => (await import('./versions.js')).showDrain));
};
