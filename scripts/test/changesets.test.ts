import { globSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

const published = globSync('{packages,apps}/*/package.json', { cwd: root }).flatMap((file) => {
  const { name, private: isPrivate } = JSON.parse(readFileSync(`${root}/${file}`, 'utf8'));
  return isPrivate === true ? [] : [String(name)];
});

const changesets = globSync('.changeset/*.md', { cwd: root }).filter(
  (file) => basename(file) !== 'README.md',
);

// One that does not is otherwise noticed at a release, which it makes impossible as a whole.
test('every changeset names published packages only, each with a kind of change, and says what changed', () => {
  const faults = changesets.flatMap((file) => {
    const [, front = '', text = ''] =
      /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(readFileSync(`${root}/${file}`, 'utf8')) ?? [];
    const unknown = front.split('\n').filter((line) => {
      const [, , name = ''] = /^(["'])(.+)\1: (?:patch|minor|major)$/.exec(line) ?? [];
      return line.trim() !== '' && !published.includes(name);
    });
    return [...unknown, ...(text.trim() === '' ? ['no text'] : [])].map((fault) => `${file}: ${fault}`);
  });
  expect(faults).toEqual([]);
});
