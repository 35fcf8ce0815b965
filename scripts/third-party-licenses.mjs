// The licences of the packages whose code is in the build: each asks that its text comes with copies of the code.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, sep } from 'node:path';

/** @returns the folders of the packages that the modules of a bundle belong to */
export function packagesOf(output) {
  const folder = `${sep}node_modules${sep}`;
  const inPackages = output.flatMap(({ moduleIds = [] }) => moduleIds).filter((id) => id.includes(folder));
  return inPackages.map((id) => {
    const at = id.lastIndexOf(folder);
    const words = id.slice(at + folder.length).split(sep);
    return join(id.slice(0, at), folder, ...words.slice(0, words[0].startsWith('@') ? 2 : 1));
  });
}

/** @throws Error if a package has no licence */
export function writeLicenses(file, packages) {
  const texts = [...new Set(packages)].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const files = readdirSync(folder).filter((entry) => /^(?:licen[cs]e|notice|copying)/i.test(entry));
    if (files.length === 0 && !license) throw new Error(`${folder} has no licence.`);
    const read = files.map((entry) => readFileSync(join(folder, entry), 'utf8').trim());
    return [license ? `${name} ${version} (${license})` : `${name} ${version}`, ...read].join('\n\n');
  });
  writeFileSync(file, `This build contains code of these packages.\n\n${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
}
