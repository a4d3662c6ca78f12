import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { cobbler } from '../support/in-process.ts';
import { testKey } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const skill = '---\ndescription: Reads PDFs\n---\nRead.';

/** Runs a command that prints JSON in a project with a skill and a rule. */
async function json(...args: string[]) {
  const cwd = temporaryFolder();
  const files = {
    '.claude/skills/pdf/SKILL.md': skill,
    '.claude/skills/bad/SKILL.md': 'No description.',
    '.cobbler/config.yaml': 'permissions:\n  deny: ["run_command(rm)"]\n',
  };
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), text);
  }
  const env = { HOME: temporaryFolder(), ANTHROPIC_API_KEY: testKey, COBBLER_SANDBOX: 'off' };
  const { code, stdout, stderr } = await cobbler([...args, '--json'], { env, cwd });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).not.toContain(testKey);
  return JSON.parse(stdout);
}

test('skills, permissions and config print JSON', async () => {
  const { found, skipped } = await json('skills');
  expect([found, skipped]).toMatchObject([
    [{ kind: 'skill', name: 'pdf', description: 'Reads PDFs', state: 'new' }],
    [{ reason: 'it has no description' }],
  ]);
  expect(await json('permissions')).toMatchObject({ mode: 'ask', deny: ['run_command(rm)'] });
  expect(await json('permissions', 'test', 'rm x')).toMatchObject({
    type: expect.any(String),
    why: expect.any(String),
  });
  expect(await json('config')).toMatchObject({
    settings: { model: { value: 'balanced', source: 'default' }, budget: null },
  });
});
