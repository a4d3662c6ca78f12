import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readSkills } from '@cobbler/agent/definitions';
import { expect, it } from 'vitest';

it('reads 500 of 10,000 skills and says so', { timeout: 60_000 }, async () => {
  const root = mkdtempSync(join(tmpdir(), 'cobbler-many-'));
  const folder = join(root, 'skills');
  mkdirSync(join(folder, 's0'), { recursive: true });
  writeFileSync(join(folder, 's0', 'SKILL.md'), '---\ndescription: x\n---\n');
  for (let at = 1; at < 10_000; at += 1) symlinkSync('s0', join(folder, `s${at}`));
  const { found, skipped } = await readSkills([{ folder: root }]);
  expect(found).toHaveLength(500);
  expect(skipped).toEqual([{ path: folder, reason: 'only 500 skills are read' }]);
  rmSync(root, { recursive: true });
});
