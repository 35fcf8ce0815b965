import type { AddCommand } from '../command.js';
import { declareCompletion } from './options.js';

/** `sandflow completion`: a script for a shell, generated from the grammar of all commands. */
export const addCompletion: AddCommand = (parent, { io }) => {
  declareCompletion(parent).action(async (shell) => {
    const { completionScript } = await import('./completion-script.js');
    const { userProfiles } = await import('../config/profile.js');
    const config = await io.readConfig().catch(() => undefined);
    const profiles = config ? await userProfiles(config) : [];
    io.stdout.write(completionScript(parent, shell, { profiles }));
  });
};
